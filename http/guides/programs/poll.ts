import { createClient } from 'mining-activity-client';

const client = createClient({ baseUrl: 'http://127.0.0.1:8080' });
for await (const { measurement } of client.poll('/v1/status', {}, { intervalMs: 2_000 }))
  console.log(measurement === null ? 'no reading yet' : `${measurement.cumulativeWorkUnits} work units`);
