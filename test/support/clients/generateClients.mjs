// `node generateClients.mjs OPENAPI_JSON FOLDER`: writes what two generators of clients make of an OpenAPI document. Both are programs over the API of
// TypeScript 5, which the compiler of this project has no more.
import { readFileSync, writeFileSync } from 'node:fs';
import { register } from 'node:module';
import { join } from 'node:path';

const typescript = 'data:text/javascript,export { ts as default } from "@ts-morph/common"';
const from = JSON.stringify(import.meta.url);
register(
  `data:text/javascript,${encodeURIComponent(`export const resolve = (name, context, next) => {
  if (name === 'typescript') return { url: ${JSON.stringify(typescript)}, shortCircuit: true };
  return next(name, context.parentURL?.startsWith('data:') ? { ...context, parentURL: ${from} } : context);
};`)}`,
);

const [document, folder] = process.argv.slice(2);
const { default: generateTypes, astToString } = await import('openapi-typescript');
writeFileSync(
  join(folder, 'types.ts'),
  astToString(await generateTypes(JSON.parse(readFileSync(document, 'utf8')))),
);
const { createClient } = await import('@hey-api/openapi-ts');
await createClient({ input: document, output: join(folder, 'client'), logs: { level: 'silent' } });
