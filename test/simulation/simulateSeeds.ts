import { resolve } from 'node:path';
import { startProcess } from '../support/processes/childProcess.ts';
import { shareInFile } from '../support/processes/lifetime.ts';
import { buildSimulator, nodeOptions } from './buildSimulator.mjs';

export const oneSeed = { seed: '24', seeds: '1', episodes: '1' };

const buildOnce = shareInFile(() => buildSimulator({ name: 'tested' }));

/** Output of the simulator, which has found nothing. */
export async function simulate(settings: object): Promise<string> {
  const program = resolve(await buildOnce());
  const run = startProcess(process.execPath, [...nodeOptions, program, JSON.stringify(settings)]);
  const status = await run.exited;
  if (status !== 0)
    throw new Error(`simulate ${JSON.stringify(settings)} ended with ${status}:\n${run.output()}`);
  return run.output();
}
