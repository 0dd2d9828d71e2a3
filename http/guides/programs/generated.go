package main

import (
	"context"
	"fmt"
	"log"

	"example/service"
)

func main() {
	client, err := service.NewClient("http://127.0.0.1:8080")
	if err != nil {
		log.Fatal(err)
	}
	answer, err := client.GetStatus(context.Background(), service.GetStatusParams{})
	if err != nil {
		log.Fatal(err)
	}
	switch answer := answer.(type) {
	case *service.StatusHeaders: // Its Measurement is null before the first reading.
		fmt.Println(answer.Response.Measurement.Value.CumulativeWorkUnits, "work units")
	default:
		log.Fatalf("%#v", answer) // An error, such as *service.GetStatusTooManyRequests.
	}
}
