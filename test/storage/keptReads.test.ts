import { expect, it } from 'vitest';
import { createKeptReads } from '../../storage/reading/keptReads.ts';
import { openEnd, type VisibleRuns } from '../../storage/runs/lineages.ts';

const runs: VisibleRuns = [{ run: 'one', through: openEnd }];

it('a read is done once in each history, until it was not used for longest', async () => {
  const keep = createKeptReads<string>(2);
  let reads: string[] = [];
  const ask = async (keys: string, history = runs) => {
    reads = [];
    for (const key of keys)
      expect(
        await keep(history, key, async () => {
          reads.push(key);
          return `of ${key}`;
        }),
      ).toBe(`of ${key}`);
    return reads.join('');
  };
  expect(await ask('aabab')).toBe('ab');
  expect(await ask('aca')).toBe('c');
  expect(await ask('b')).toBe('b');
  expect(await ask('a', structuredClone(runs) as VisibleRuns)).toBe('');
  expect(await ask('ab', [{ run: 'two', through: openEnd }])).toBe('ab');
});

it('a read that ends in another history is not kept', async () => {
  const keep = createKeptReads<string>(2);
  const other: VisibleRuns = [{ run: 'two', through: openEnd }];
  let end = (_: string) => {};
  const slow = new Promise<string>((resolve) => {
    end = resolve;
  });
  const asked = keep(runs, 'a', () => slow);
  expect(await keep(other, 'a', async () => 'new')).toBe('new');
  end('old');
  expect(await asked).toBe('old');
  expect(await keep(other, 'a', () => slow)).toBe('new');
});
