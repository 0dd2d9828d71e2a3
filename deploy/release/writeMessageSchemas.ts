// The build of the client runs it from `dist/client`, with a folder: writes the JSON Schema of each message, and an index.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMessageSchemas } from './messageSchemas.ts';

const folder = process.argv[2] ?? '.';
const schemas = createMessageSchemas();
mkdirSync(folder, { recursive: true });
for (const [name, schema] of Object.entries({ ...schemas, index: Object.keys(schemas) }))
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(schema, null, 2)}\n`);
