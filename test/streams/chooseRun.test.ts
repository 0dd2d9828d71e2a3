import { describe, expect, it } from 'vitest';
import { type Lineage, openEnd } from '../../storage/runs/lineages.ts';
import { chooseRun, type RunFacts } from '../../streams/follower/chooseRun.ts';
import { someLineage } from '../support/storage/someLineage.ts';

/** A lineage whose last run begins after message 4. */
const lineage = (change: Partial<Lineage> = {}): Lineage => ({
  ...someLineage,
  runs: [
    { run: 'first', through: 4 },
    { run: 'last', through: openEnd },
  ],
  position: 9,
  ...change,
});
const ended = lineage({ cause: 'ended' });
const otherFold = lineage({ foldVersion: 2, runs: [{ run: 'other', through: openEnd }] });

/** A process restores the newest snapshot, at message 6, and the newest row that counts is of message 9. */
function choose({
  newestPosition = 6,
  ...facts
}: Partial<RunFacts> & { readonly newestPosition?: number } = {}) {
  return chooseRun({
    earlier: lineage(),
    newest: lineage(),
    position: 6,
    tip: 9,
    firstSequence: 1,
    fault: null,
    hasDiverged: false,
    choice: { found: null, disagrees: false, newestPosition },
    ...facts,
  });
}

describe('a run is continued', () => {
  it.each<[string, Partial<RunFacts>]>([
    ['that has ended at the newest snapshot', { tip: 6 }],
    ['whose newest snapshot is too young to be restored', { newest: ended }],
    ['after which another version has stored nothing', { tip: 6, newest: otherFold }],
    ['that begins at the restored snapshot', { position: 4 }],
  ])('%s', (_, facts) => {
    expect(choose({ earlier: ended, newestPosition: 9, ...facts })).toEqual({
      outcome: 'resumes',
      reason: 'continued',
      earlier: ended,
    });
  });

  it.each<[string, Parameters<typeof choose>[0]]>([
    ['it has not ended', { earlier: lineage() }],
    ['it has ended elsewhere', { newestPosition: 8 }],
    ['another version has stored more', { newest: otherFold }],
    ['it begins later', { position: 3 }],
  ])('not if %s', (_, facts) => {
    expect(choose({ earlier: ended, newest: ended, newestPosition: 9, ...facts })).toEqual({
      outcome: 'waits',
      reason: 'continued',
      due: 9,
    });
  });
});

it.each<[RunFacts['firstSequence'], ReturnType<typeof chooseRun>['outcome'], number | undefined]>([
  [1, 'counts', undefined],
  [7, 'counts', undefined],
  // Messages 7 and 8 are only rows any more.
  [9, 'waits', 8],
  // Rows of lost messages are above the stream's beginning.
  [30, 'waits', 9],
])('a new run of a stream from %i on replaces lost rows: it %s', (firstSequence, outcome, due) => {
  const facts = { earlier: ended, newestPosition: 9, newest: ended, firstSequence };
  const expected = { outcome, ...(due !== undefined && { due }) };
  expect(choose({ ...facts, hasDiverged: true })).toEqual({ ...expected, reason: 'diverged' });
  expect(choose({ ...facts, fault: 'olderSnapshotNeeded' })).toEqual({ ...expected, reason: 'rewound' });
});

it.each<[string, Lineage | null]>([
  ['begun', null],
  ['replayed', lineage({ cause: 'filled', reason: '' })],
  ['continued', lineage()],
  ['continued', lineage({ reason: 'diverged' })],
  // The reason of a run that has not counted yet stays.
  ['begun', lineage({ cause: 'pending', reason: 'begun' })],
  ['replayed', lineage({ cause: 'pending', reason: 'replayed' })],
])('a new run is %s, and counts once it has the rows that count', (reason, earlier) => {
  expect(choose({ earlier })).toEqual({ outcome: 'waits', reason, due: 9 });
  expect(choose({ earlier, tip: 6 })).toEqual({ outcome: 'counts', reason });
});
