const answer = await fetch('http://127.0.0.1:8080/v1/public/telemetry');
const { measurement } = await answer.json();
const counter = BigInt(measurement?.cumulativeWorkUnits ?? 0); // A Number would round it.
console.log(`${counter} work units`);
