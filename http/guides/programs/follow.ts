import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createClient } from 'mining-activity-client';

const client = createClient({ baseUrl: 'http://127.0.0.1:8080' });
const file = 'position.txt';
const start = existsSync(file) ? { after: readFileSync(file, 'utf8') } : { newest: 20 };

for await (const { event, position } of client.events({ category: 'protocol', ...start })) {
  if (event.type === 'system.settlement_completed') {
    const { settledThroughRound, completedBlockCount } = event.payload;
    console.log(`settled through round ${settledThroughRound}: ${completedBlockCount} work blocks`);
  }
  writeFileSync(`${file}.new`, position);
  renameSync(`${file}.new`, file); // A program that is killed here leaves a whole position.
}
