import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { IsCounted } from '../../storage/mergedRuns.ts';
import { selectRetained, snapshotsRetainedMax } from '../../storage/snapshotRetention.ts';
import type { StoredSnapshotHeader } from '../../storage/tables/foldSnapshot.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const startMs = Date.UTC(2026, 0, 31, 12);

const isCounted = () => true;

function header(position: number, overrides: Partial<StoredSnapshotHeader> = {}): StoredSnapshotHeader {
  return {
    stream: 'MINER_COUNTER',
    run: '',
    foldVersion: 1,
    configuration: 'one deployment',
    streamCreated: '2026-01-31T12:00:00.123456789Z',
    position,
    digest: null,
    takenAtMs: startMs,
    snapshot: String(position),
    checksum: '',
    ...overrides,
  };
}

/** Retained snapshots after one is saved every `everyMs`, and their ages; `check` sees them after each. */
function saveRegularly(
  count: number,
  everyMs: number,
  check: (agesMs: readonly number[], atMs: number) => void = () => undefined,
): StoredSnapshotHeader[] {
  let kept: StoredSnapshotHeader[] = [];
  for (let position = 1; position <= count; position++) {
    const takenAtMs = startMs + position * everyMs;
    kept = selectRetained(header(position, { takenAtMs }), kept, isCounted);
    check(
      kept.map((one) => takenAtMs - one.takenAtMs),
      takenAtMs - startMs,
    );
  }
  return kept;
}

const positionsOf = (headers: readonly StoredSnapshotHeader[]) =>
  headers.map(({ position }) => position).sort((a, b) => b - a);

describe('retained snapshots', () => {
  it.each([
    ['every ten minutes', 10 * minuteMs],
    ['every minute', minuteMs],
    ['every 50 seconds, as with very many messages', 50_000],
  ])('are the newest three, and one of ten minutes, each hour and each day, if saved %s', (_, everyMs) => {
    saveRegularly(Math.ceil((25 * dayMs) / everyMs), everyMs, (agesMs, atMs) => {
      expect(agesMs.length).toBeLessThanOrEqual(snapshotsRetainedMax);
      for (const age of [0, 1, 2]) if (age * everyMs < atMs) expect(agesMs).toContain(age * everyMs);
      const isThere = (fromMs: number, toMs: number) => agesMs.some((age) => fromMs <= age && age < toMs);
      if (atMs > 30 * minuteMs) expect(isThere(10 * minuteMs, 30 * minuteMs)).toBe(true);
      for (let hours = 1; hours < 23; hours += 7)
        if (atMs > (hours + 1) * hourMs)
          expect(isThere(hours * hourMs, (hours + 1) * hourMs + everyMs)).toBe(true);
      for (let days = 1; days < 19; days += 5)
        if (atMs > (days + 1) * dayMs) expect(isThere(days * dayMs, (days + 1) * dayMs + everyMs)).toBe(true);
      expect(Math.max(...agesMs)).toBeLessThan(21 * dayMs);
    });
  });

  it('stay if the clock is wrong for a while, whichever way', () => {
    const before = saveRegularly(3_000, 10 * minuteMs);
    for (const wrongMs of [300 * dayMs, -300 * dayMs]) {
      let kept = before;
      for (let position = 3_001; position <= 3_005; position++)
        kept = selectRetained(
          header(position, { takenAtMs: startMs + position * 10 * minuteMs + wrongMs }),
          kept,
          isCounted,
        );
      expect(positionsOf(kept).slice(0, 3)).toEqual([3_005, 3_004, 3_003]);
      const lost = positionsOf(before).filter((position) => !positionsOf(kept).includes(position));
      // Each wrong hour and day takes the place of one.
      expect(lost.length).toBeLessThan(10);
    }
  });

  it('of earlier folds are kept, the newest of each, and do not displace others', () => {
    const others = [1, 2, 3, 4].flatMap((foldVersion) =>
      [1, 2].map((number) =>
        header(foldVersion * 10 + number, { foldVersion, takenAtMs: startMs + foldVersion * 10 + number }),
      ),
    );
    const saved = header(50, { foldVersion: 5 });
    expect(selectRetained(saved, others, isCounted).map(({ position }) => position)).toEqual([50, 42, 32]);
    const deployments = [
      header(1, { configuration: 'another', takenAtMs: 1 }),
      header(2, { streamCreated: 'another', takenAtMs: 2 }),
    ];
    expect(selectRetained(saved, deployments, isCounted)).toEqual([saved, ...deployments.toReversed()]);
  });

  it('of higher positions than the saved one stay: an older state was restored, and is being folded on from', () => {
    const above = [20, 21, 22, 23].map((position) => header(position));
    expect(positionsOf(selectRetained(header(5), above, isCounted))).toEqual([23, 22, 21, 5]);
  });

  it('that count stay, however many that do not count lie above them or are newer', () => {
    const runs = fc.constantFrom('own', 'cut', 'replay', 'lost');
    const stored = fc.array(
      fc.record({ run: runs, position: fc.integer({ min: 1, max: 60 }), takenAfterMinutes: fc.nat(3_000) }),
      { maxLength: 40 },
    );
    // Of the run `cut`, what lies above 20 does not count.
    const isOfHistory: IsCounted = ({ run, position }) => run === 'own' || (run === 'cut' && position <= 20);
    fc.assert(
      fc.property(stored, (given) => {
        const others = given.map(({ run, position, takenAfterMinutes }, at) =>
          header(position, {
            run,
            takenAtMs: startMs + takenAfterMinutes * minuteMs,
            snapshot: `${at}`,
          }),
        );
        const saved = header(30, { run: 'own', takenAtMs: startMs + 3_000 * minuteMs, snapshot: 'saved' });
        const retained = selectRetained(saved, others, isOfHistory);
        const counting = [saved, ...others].filter((one) => isOfHistory(one));
        expect(retained.filter((one) => isOfHistory(one))).toEqual(
          selectRetained(
            saved,
            counting.filter((one) => one !== saved),
            isCounted,
          ),
        );
        // The newest of each of the two runs that were saved last.
        const beside = retained.filter((one) => !isOfHistory(one));
        for (const { run, position } of beside)
          expect(position).toBe(
            Math.max(
              ...others.filter((one) => one.run === run && !isOfHistory(one)).map((one) => one.position),
            ),
          );
        const otherRuns = new Set(others.filter((one) => !isOfHistory(one)).map(({ run }) => run));
        expect(beside.length).toBe(Math.min(2, otherRuns.size));
      }),
    );
  });

  it('of a replay under way stay, its newest one, while the process that ingests saves and restarts', () => {
    let kept = [header(7, { run: 'replay', takenAtMs: startMs, snapshot: 'earlier' })];
    kept.push(header(9, { run: 'replay', takenAtMs: startMs + 1, snapshot: 'newest' }));
    for (let position = 10; position < 40; position++)
      kept = selectRetained(
        header(position, { run: 'own', takenAtMs: startMs + position * minuteMs }),
        kept,
        ({ run }) => run === 'own',
      );
    expect(kept.filter(({ run }) => run === 'replay').map(({ snapshot }) => snapshot)).toEqual(['newest']);
  });
});
