import assert from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import { selectRetained, snapshotsRetainedMax } from '../../storage/snapshotRetention.ts';
import { formatSnapshotName, type StoredSnapshotHeader } from '../../storage/tables/foldSnapshot.ts';

function header(ordinal: number, overrides: Partial<StoredSnapshotHeader> = {}): StoredSnapshotHeader {
  return {
    stream: 'MINER_COUNTER',
    foldVersion: 1,
    configuration: 'one deployment',
    streamCreated: '2026-01-31T12:00:00.123456789Z',
    position: ordinal,
    digest: null,
    takenAtMs: ordinal,
    snapshot: String(ordinal),
    part: 0,
    ordinal,
    ...overrides,
  };
}

/** Retained snapshots after saving `count` of them; `check` sees them after each. */
function savedInOrder(
  count: number,
  check: (kept: readonly StoredSnapshotHeader[], ordinal: number) => void = () => undefined,
): StoredSnapshotHeader[] {
  let kept: StoredSnapshotHeader[] = [];
  for (let ordinal = 1; ordinal <= count; ordinal++) {
    kept = selectRetained(header(ordinal), kept);
    check(kept, ordinal);
  }
  return kept;
}

describe('retained snapshots', () => {
  it('are the newest three, and the newest and oldest of each band of ages', () => {
    const ages = savedInOrder(6_000).map(({ ordinal }) => 6_000 - ordinal);
    expect(ages.sort((a, b) => a - b)).toEqual([
      0, 1, 2, 3, 4, 15, 26, 59, 103, 191, 367, 1_071, 3_183, 5_999,
    ]);
  });

  it('are of every age, and bounded in number, however many were saved', () => {
    const bandsFrom = [1, 4, 16, 64, 256, 1_024, 4_096];
    savedInOrder(9_000, (kept, saved) => {
      assert(kept.length <= snapshotsRetainedMax, `${kept.length} after the ${saved}th`);
      const ages = kept.map(({ ordinal }) => saved - ordinal);
      assert(ages.includes(0), `the ${saved}th itself`);
      for (const [index, from] of bandsFrom.entries()) {
        const oldest = from + (from - (bandsFrom[index - 1] ?? 0));
        const isOfBand = (age: number) => from <= age && age <= oldest;
        assert(
          saved <= oldest || ages.some(isOfBand),
          `none of the ${from}th to the ${oldest}th before the ${saved}th`,
        );
      }
    });
  });

  it('do not go for a clock that is ahead for a while', () => {
    const dayMs = 86_400_000;
    const before = savedInOrder(5_000);
    let kept = before;
    for (let ordinal = 5_001; ordinal <= 5_005; ordinal++)
      kept = selectRetained(header(ordinal, { takenAtMs: ordinal * 60_000 + 30 * dayMs }), kept);
    const old = ({ ordinal }: StoredSnapshotHeader) => ordinal < 4_900;
    expect(kept.filter(old)).toEqual(before.filter(old));
  });

  it('of earlier folds are kept, the newest of each, and do not displace others', () => {
    const others = [1, 2, 3, 4].flatMap((foldVersion) =>
      [1, 2].map((number) => header(foldVersion * 10 + number, { foldVersion })),
    );
    const saved = header(50, { foldVersion: 5 });
    expect(selectRetained(saved, others).map(({ ordinal }) => ordinal)).toEqual([50, 42, 32]);
    const deployments = [header(1, { configuration: 'another' }), header(2, { streamCreated: 'another' })];
    expect(selectRetained(saved, deployments)).toEqual([saved, ...deployments.toReversed()]);
  });

  it('of higher positions than the saved one stay: an older state was restored, and is being folded on from', () => {
    const saved = header(9, { position: 5 });
    const above = header(8, { position: 20 });
    expect(selectRetained(saved, [above])).toEqual([saved, above]);
  });
});

it('a state has the name of its snapshot and the number of its increment', () => {
  expect([0, 2].map((part) => formatSnapshotName(header(7, { part })))).toEqual(['7', '7+2']);
});
