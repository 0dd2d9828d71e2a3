// `npm run client`, which packs it: one file of JavaScript without dependencies, for browsers and Node, and types beside it.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'rolldown';

const here = import.meta.dirname;
const root = resolve(here, '../..');
const out = join(here, 'dist');

rmSync(out, { recursive: true, force: true });
await build({
  cwd: here,
  input: 'index.ts',
  platform: 'neutral',
  resolve: { mainFields: ['module', 'main'], conditionNames: ['import'] },
  output: { file: join(out, 'index.js') },
});
const { status } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', join(here, 'tsconfig.json')], {
  stdio: ['ignore', 2, 2],
});
process.exitCode = status ?? 1;
