import { describe, expect, it } from 'vitest';
import { shareInFile } from '../support/processes/lifetime.ts';
import { oneSeed, simulate } from './simulateSeeds.ts';

const simulateKept = shareInFile(() => simulate({ ...oneSeed, kept: true, minutes: '10', shrinking: false }));

const readFingerprints = (output: string) =>
  [...output.matchAll(/^seed (\w+): .* faults, ([0-9a-f]{16}),/gm)].map(([, seed, digest]) => [seed, digest]);

describe('the simulator', () => {
  it('finds nothing with the plans of faults that were found', { timeout: 300_000 }, async () => {
    expect(await simulateKept()).toMatch(/^\d+ seeds, 0 failed;/m);
  });

  it('does the same with the same seed, whatever ran before', { timeout: 300_000 }, async () => {
    const alone = readFingerprints(await simulate(oneSeed));
    expect(alone).toHaveLength(1);
    expect(readFingerprints(await simulateKept()).slice(-1)).toEqual(alone);
  });
});
