import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { IsCounted } from '../../storage/runs/mergedRuns.ts';
import { selectRetained, snapshotsRetainedMax } from '../../storage/snapshots/snapshotRetention.ts';
import type { StoredSnapshotHeader } from '../../storage/tables/foldSnapshot.ts';
import { someSnapshot } from '../support/storage/someLineage.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const startMs = Date.UTC(2026, 0, 31, 12);

const isCounted = () => true;

const header = (position: number, change: Partial<StoredSnapshotHeader> = {}) =>
  someSnapshot(position, { takenAtMs: startMs, ...change });

/** Retained snapshots after one is saved every `everyMs`, and their ages; `check` sees them after each. */
function saveRegularly(
  count: number,
  everyMs: number,
  check: (agesMs: readonly number[], atMs: number) => void = () => undefined,
): StoredSnapshotHeader[] {
  let kept: StoredSnapshotHeader[] = [];
  for (let position = 1; position <= count; position++) {
    const takenAtMs = startMs + position * everyMs;
    kept = selectRetained(header(position, { takenAtMs }), kept, isCounted, []);
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
  ])('are the newest three, and by age, if saved %s', (_, everyMs) => {
    const wrong = new Set<string>();
    saveRegularly(Math.ceil((22 * dayMs) / everyMs), everyMs, (agesMs, atMs) => {
      const isThere = (fromMs: number, toMs: number) => agesMs.some((age) => fromMs <= age && age < toMs);
      const require = (what: string, isMet: boolean) => isMet || wrong.add(`${what} at ${atMs}`);
      require('the number', agesMs.length <= snapshotsRetainedMax);
      for (const age of [0, 1, 2])
        require(`number ${age}`, age * everyMs >= atMs || agesMs.includes(age * everyMs));
      require('ten minutes', atMs <= 30 * minuteMs || isThere(10 * minuteMs, 30 * minuteMs));
      for (let hours = 1; hours < 23; hours += 7)
        require(`hour ${hours}`, atMs <= (hours + 1) * hourMs ||
          isThere(hours * hourMs, (hours + 1) * hourMs + everyMs));
      for (let days = 1; days < 19; days += 5)
        require(`day ${days}`, atMs <= (days + 1) * dayMs ||
          isThere(days * dayMs, (days + 1) * dayMs + everyMs));
      require('the age', Math.max(...agesMs) < 21 * dayMs);
    });
    expect([...wrong]).toEqual([]);
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
          [],
        );
      expect(positionsOf(kept).slice(0, 3)).toEqual([3_005, 3_004, 3_003]);
      const lost = positionsOf(before).filter((position) => !positionsOf(kept).includes(position));
      // Each wrong hour and day takes the place of one.
      expect(lost.length).toBeLessThan(10);
    }
  });

  it('are the newest usable ones of all other lineages', () => {
    const ofRun = (run: string, position: number, change: Partial<StoredSnapshotHeader> = {}) =>
      header(position, { run, snapshot: `${run} ${position}`, ...change });
    const earlier = { foldVersion: 0, takenAtMs: startMs - dayMs };
    const others = [
      ...[1, 2, 3, 4].map((number) =>
        ofRun(`version ${number}`, number, { ...earlier, foldVersion: -number }),
      ),
      ofRun('earlier', 7, earlier),
      ofRun('earlier', 8, earlier),
      // From a check by that version, and from a process that was killed after it had saved above the end of its run.
      ...[8, 9, 10].map((position) => ofRun('check', position, { foldVersion: 0 })),
      ofRun('earlier', 11, earlier),
      ofRun('replay', 12),
      ofRun('replay', 13),
      ofRun('left', 60),
    ];
    const lineages: IsCounted[] = [
      ({ run, position }) => run === 'earlier' && position <= 8,
      ({ run }) => run === 'replay',
      ({ run }) => run.startsWith('version'),
      ({ run }) => run === 'none',
    ];
    const saved = ofRun('own', 50, { foldVersion: 5 });
    const kept = selectRetained(saved, others, ({ run }) => run === 'own', lineages);
    expect(kept.map(({ snapshot }) => snapshot)).toEqual(['own 50', 'earlier 8', 'replay 13', 'version 4 4']);
  });

  it('stay above the saved position if an older state was restored', () => {
    const above = [20, 21, 22, 23].map((position) => header(position));
    expect(positionsOf(selectRetained(header(5), above, isCounted, []))).toEqual([23, 22, 21, 5]);
  });

  it('stay if they count, however many others are newer', () => {
    const runs = fc.constantFrom('own', 'cut', 'replay', 'lost');
    const stored = fc.array(
      fc.record({ run: runs, position: fc.integer({ min: 1, max: 60 }), takenAfterMinutes: fc.nat(3_000) }),
      { maxLength: 40 },
    );
    // Snapshots of the run `cut` above 20 do not count.
    const isOfLineage: IsCounted = ({ run, position }) => run === 'own' || (run === 'cut' && position <= 20);
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
        const retained = selectRetained(saved, others, isOfLineage, []);
        const counting = [saved, ...others].filter((one) => isOfLineage(one));
        expect(retained).toEqual(
          selectRetained(
            saved,
            counting.filter((one) => one !== saved),
            isCounted,
            [],
          ),
        );
      }),
    );
  });
});
