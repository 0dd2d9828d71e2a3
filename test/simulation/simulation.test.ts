import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startProcess } from '../support/processes/childProcess.ts';
import { shareInFile } from '../support/processes/lifetime.ts';
import { buildSimulator, nodeOptions } from './buildSimulator.mjs';
import { mutations } from './mutations.mjs';

const oneSeed = { seed: '24', seeds: '1', episodes: '1' };

const buildOnce = shareInFile(() => buildSimulator({ name: 'tested' }));

/** Output of the simulator, which has found nothing. */
async function simulate(settings: object): Promise<string> {
  const program = resolve(await buildOnce());
  const run = startProcess(process.execPath, [...nodeOptions, program, JSON.stringify(settings)]);
  const status = await run.exited;
  if (status !== 0)
    throw new Error(`simulate ${JSON.stringify(settings)} ended with ${status}:\n${run.output()}`);
  return run.output();
}

const simulateKept = shareInFile(() => simulate({ ...oneSeed, kept: true, minutes: '10', shrinking: false }));

const readFingerprints = (output: string) =>
  [...output.matchAll(/^seed (\w+): .* faults, ([0-9a-f]{16}),/gm)].map(([, seed, digest]) => [seed, digest]);

describe('the simulator', () => {
  it('finds nothing with the plans that are kept', { timeout: 300_000 }, async () => {
    expect(await simulateKept()).toMatch(/^\d+ seeds, 0 failed;/m);
  });

  it('does the same with the same seed, whatever ran before', { timeout: 300_000 }, async () => {
    const alone = readFingerprints(await simulate(oneSeed));
    expect(alone).toHaveLength(1);
    expect(readFingerprints(await simulateKept()).slice(-1)).toEqual(alone);
  });

  it('can put each fault of the list into the program', () => {
    const misfits = mutations.filter(({ replacements }) =>
      replacements.some(({ file, from }) => readFileSync(file, 'utf8').split(from).length !== 2),
    );
    expect(misfits.map(({ what }) => what)).toEqual([]);
  });
});
