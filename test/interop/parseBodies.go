// Reads each body as the type that ogen has made of its schema, and checks both documents: parseBodies CASES OPENAPI_3_1 OPENAPI_3_0.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/getkin/kin-openapi/openapi3"
)

type bodyCase struct {
	Operation string          `json:"operation"`
	Schema    string          `json:"schema"`
	Body      json.RawMessage `json:"body"`
}

func check(err error, place string) {
	if err != nil {
		fmt.Println(place+":", err)
		os.Exit(1)
	}
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	check(err, "cases")
	var cases []bodyCase
	check(json.Unmarshal(text, &cases), "cases")
	var documents []*openapi3.T
	for _, path := range os.Args[2:] {
		document, err := openapi3.NewLoader().LoadFromFile(path)
		check(err, path)
		check(document.Validate(context.Background()), path)
		documents = append(documents, document)
	}
	for _, one := range cases {
		body := types[one.Schema]()
		check(json.Unmarshal(one.Body, body), one.Operation)
		if body, isValidated := body.(interface{ Validate() error }); isValidated {
			check(body.Validate(), one.Operation)
		}
		var value any
		check(json.Unmarshal(one.Body, &value), one.Operation)
		for _, document := range documents {
			check(document.Components.Schemas[one.Schema].Value.VisitJSON(value), one.Operation)
		}
	}
	fmt.Println(len(cases))
}
