import { createClient } from 'mining-activity-client';

const client = createClient({ baseUrl: 'http://127.0.0.1:8080' });
for await (const { event, position } of client.events({ newest: 5 }))
  console.log(event.occurredAt, event.type, position);
