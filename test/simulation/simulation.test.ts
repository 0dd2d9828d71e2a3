import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mutations } from './mutations.mjs';
import { oneSeed, simulate } from './simulateSeeds.ts';

describe('the simulator', () => {
  it('finds nothing with a seed', { timeout: 300_000 }, async () => {
    expect(await simulate(oneSeed)).toMatch(/^1 seeds, 0 failed;/m);
  });

  it('finds the place of each fault in mutations.txt', () => {
    const misfits = mutations.filter(({ replacements }) =>
      replacements.some(({ file, from }) => readFileSync(file, 'utf8').split(from).length !== 2),
    );
    expect(misfits.map(({ what }) => what)).toEqual([]);
  });
});
