import { createClient, ServiceError } from 'mining-activity-client';

const client = createClient({ baseUrl: 'http://127.0.0.1:8080', attemptsMax: 5 });
try {
  const state = await client.get('/v1/mining/state', {}, { signal: AbortSignal.timeout(10_000) });
  console.log(state.status);
  await client.get('/v1/owners/{address}/miners', { address: 'nobody' });
} catch (error) {
  if (!(error instanceof ServiceError)) throw error;
  console.log(error.status, error.code, error.requestId);
}
