// `npm run simulate`: builds the simulator, and runs it.
import { spawnSync } from 'node:child_process';
import { buildSimulator, nodeOptions } from './build.mjs';
import { tryMutations } from './tryMutations.mjs';

const settings = process.argv.slice(2);
if (settings.includes('--mutations')) await tryMutations({ untriedOnly: settings.includes('--untried') });
else {
  const program = await buildSimulator();
  const { status } = spawnSync(process.execPath, [...nodeOptions, program, ...settings], {
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}
