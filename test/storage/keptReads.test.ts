import { expect, it } from 'vitest';
import { createKeptReads } from '../../storage/reading/keptReads.ts';
import { type LineageRuns, openEnd } from '../../storage/runs/lineages.ts';

const runs: LineageRuns = [
  { run: 'one', through: 50 },
  { run: 'two', through: openEnd },
];

it('a read is kept until it was not used for longest', () => {
  const kept = createKeptReads<string>(2);
  const asked: string[] = [];
  for (const key of 'aabacab') {
    if (kept.find(runs, key) !== undefined) continue;
    expect(kept.add(runs, key, `of ${key}`)).toBe(`of ${key}`);
    asked.push(key);
  }
  expect(asked).toEqual(['a', 'b', 'c', 'b']);
});

it.each([
  [
    'a run has been begun',
    [...runs.slice(0, 1), { run: 'two', through: 90 }, { run: 'three', through: openEnd }],
  ],
  ['a run has been cut', [{ run: 'one', through: 40 }, ...runs.slice(1)]],
  ['a run has been made again', [{ run: 'other', through: 50 }, ...runs.slice(1)]],
  ['none counts', []],
])('a read is forgotten once %s, and what ends later is not kept', (_, other) => {
  const kept = createKeptReads<string>(2);
  kept.find(runs, 'key');
  kept.add(runs, 'key', 'old');
  expect(kept.find(structuredClone(runs) as LineageRuns, 'key')).toBe('old');
  expect(kept.find(other, 'key')).toBeUndefined();
  expect(kept.add(runs, 'key', 'old')).toBe('old');
  expect(kept.find(other, 'key')).toBeUndefined();
});
