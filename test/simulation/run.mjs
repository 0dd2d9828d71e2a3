// `npm run simulate`: builds the simulator and runs it in this process's place.
import { spawnSync } from 'node:child_process';
import { buildSimulator } from './build.mjs';

const program = await buildSimulator();
const { status } = spawnSync(process.execPath, ['--enable-source-maps', program, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
