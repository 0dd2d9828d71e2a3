import { createClient, formatUnits } from 'mining-activity-client';

const client = createClient({ baseUrl: 'http://127.0.0.1:8080' });
const { measurement } = await client.get('/v1/public/telemetry', {});
const counter: bigint | undefined = measurement?.cumulativeWorkUnits; // Already a bigint.
console.log(`${counter} work units`, formatUnits(1_250_000_000_000_000_000n, 18));
