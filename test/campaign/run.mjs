// `npm run campaign -- --minutes 20 --seed 7`: builds the service, and runs the campaign against real servers.
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const root = resolve(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '20' },
    kills: { type: 'string', default: '0' },
    seed: { type: 'string', default: '7' },
    clients: { type: 'string', default: '2000' },
    streams: { type: 'string', default: '200' },
  },
});
const environment = Object.fromEntries(
  Object.entries(values).map(([name, value]) => [`CAMPAIGN_${name.toUpperCase()}`, value]),
);
const run = (command, args) =>
  spawnSync(command, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...environment } }).status ??
  1;
process.exitCode =
  run(process.execPath, ['deploy/build/build.mjs', 'deploy']) ||
  run(join(root, 'node_modules', '.bin', 'vitest'), ['run', '--config', 'test/campaign/vitest.config.ts']);
