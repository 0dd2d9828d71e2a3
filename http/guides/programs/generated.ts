import createClient from 'openapi-fetch';
import type { paths } from './service.ts';

const client = createClient<paths>({ baseUrl: 'http://127.0.0.1:8080' });
const { data, error } = await client.GET('/v1/status');
if (error) throw new Error(error.error);
console.log(data.measurement?.cumulativeWorkUnits ?? 'no', 'work units');
