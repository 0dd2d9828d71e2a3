// `npm pack` runs it: one file of JavaScript without dependencies, for browsers and Node, as a module and for CommonJS, with types and the
// JSON Schemas of messages.
import { execFileSync } from 'node:child_process';
import { copyFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'rolldown';

const here = import.meta.dirname;
const root = resolve(here, '../..');
const out = join(here, 'dist');
const cjs = join(out, 'cjs');
const run = (...args) => execFileSync(process.execPath, args, { cwd: root, stdio: ['ignore', 2, 2] });

rmSync(out, { recursive: true, force: true });
run('deploy/build/build.mjs', 'client');
await build(
  [
    { format: 'esm', file: join(out, 'index.js') },
    { format: 'cjs', file: join(cjs, 'index.js') },
  ].map((output) => ({
    cwd: here,
    input: 'index.ts',
    platform: 'neutral',
    resolve: { mainFields: ['module', 'main'], conditionNames: ['import'] },
    output,
  })),
);
run('node_modules/typescript/bin/tsc', '-p', join(here, 'tsconfig.json'));
for (const name of readdirSync(out).filter((file) => file.endsWith('.d.ts')))
  copyFileSync(join(out, name), join(cjs, name));
writeFileSync(join(cjs, 'package.json'), '{ "type": "commonjs" }\n');
run('dist/client/writeMessageSchemas.js', join(out, 'schemas'));
