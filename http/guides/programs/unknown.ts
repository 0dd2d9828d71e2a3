import { createClient } from 'mining-activity-client';

const client = createClient({ baseUrl: 'http://127.0.0.1:8080' });
const history = await client.get('/v1/settlements', { range: '7d' });
// Without this case the next line does not compile.
if (history.status === 'unavailable') console.log('not known now:', history.reason);
else console.log(`${history.summary.settlementCount} settlements in seven days`);
