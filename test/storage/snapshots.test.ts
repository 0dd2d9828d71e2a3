import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Database, openDatabase } from '../../storage/database.ts';
import type { FoldSnapshot, SnapshotHeader } from '../../storage/foldSnapshot.ts';
import { migrate } from '../../storage/migrations.ts';
import { selectRetained, snapshotsKeptMax } from '../../storage/snapshotRetention.ts';
import { createSnapshotStore } from '../../storage/snapshots.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

function snapshot(position: number, given: Partial<FoldSnapshot> = {}): FoldSnapshot {
  return {
    stream: 'MINER_COUNTER',
    foldVersion: 1,
    configuration: 'one deployment',
    streamCreated: '2026-01-31T12:00:00.123456789Z',
    position,
    digest: `digest of ${position}`,
    takenAtMs: Date.UTC(2026, 0, 31, 12) + position,
    state: `{"position":${position}}\n'quoted\\'`,
    ...given,
  };
}

async function opened() {
  const database = openDatabase({ path: temporaryDirectory() });
  onTestFinished(() => database.close());
  const tables = await migrate(database, silentLogger);
  return {
    database,
    tables,
    store: createSnapshotStore({ database, tables: () => tables, logger: silentLogger }),
  };
}

/** Ends, as a kill would, after so many inserts. */
function killedAfter(inserts: number, database: Database): Database {
  let left = inserts;
  return {
    ...database,
    insert: async (...given) => {
      if (left-- === 0) throw new Error('killed');
      await database.insert(...given);
    },
  };
}

/** Text that does not compress, so that it takes several chunks. */
function largeState(): string {
  let value = 1;
  return Array.from({ length: 400_000 }, () => {
    value = (value * 48_271) % 2_147_483_647;
    return value.toString(36);
  }).join('');
}

describe('snapshots', () => {
  it('come back as they were saved, the highest position first, streams apart', async () => {
    const { store } = await opened();
    const saved = [snapshot(10), snapshot(20), snapshot(15, { stream: 'MINER_PIPELINE' })];
    for (const one of saved) await store.save(one);
    const headers = await store.list('MINER_COUNTER');
    expect(headers.map(({ position }) => position)).toEqual([20, 10]);
    expect(await store.load(headers[0] as SnapshotHeader)).toEqual(saved[1]);
    expect(await store.list('MINER_CHAIN')).toEqual([]);
  });

  it('of several chunks come back whole', async () => {
    const { store } = await opened();
    const large = snapshot(7, { state: largeState() });
    await store.save(large);
    expect(await store.load(large)).toEqual(large);
  });

  it('that a kill left incomplete are not listed, and can be saved again', async () => {
    const { database, tables, store } = await opened();
    await store.save(snapshot(3));
    const large = snapshot(7, { state: largeState() });
    const killed = createSnapshotStore({
      database: killedAfter(1, database),
      tables: () => tables,
      logger: silentLogger,
    });
    await expect(killed.save(large)).rejects.toThrow('killed');
    expect((await store.list('MINER_COUNTER')).map(({ position }) => position)).toEqual([3]);
    await store.save(large);
    expect(await store.load(large)).toEqual(large);
  });

  it('that were damaged are not given out', async () => {
    const { database, tables, store } = await opened();
    const saved = snapshot(7);
    await store.save(saved);
    await database.command(
      `ALTER TABLE ${tables.foldSnapshots} DROP PARTITION 'MINER_COUNTER.1.7.${saved.takenAtMs}.one deployment'`,
    );
    expect(await store.load(saved)).toBeNull();
  });

  it('above a position go when the stream turned out to be another', async () => {
    const { store } = await opened();
    for (const position of [1, 2, 3]) await store.save(snapshot(position));
    await store.deleteAbove('MINER_COUNTER', 1);
    expect((await store.list('MINER_COUNTER')).map(({ position }) => position)).toEqual([1]);
  });

  it('of the highest position come first, whatever the clock said when they were taken', async () => {
    const { store } = await opened();
    const hourMs = 3_600_000;
    const startMs = Date.UTC(2026, 0, 31, 12);
    for (const [position, takenAtMs] of [
      [10, startMs + hourMs],
      [20, startMs],
      [30, startMs + 60_000],
    ] as const)
      await store.save(snapshot(position, { takenAtMs }));
    const headers = await store.list('MINER_COUNTER');
    expect(headers.map(({ position }) => position)).toEqual([30, 20, 10]);
  });

  it('without a last message come back without its digest', async () => {
    const { store } = await opened();
    const saved = snapshot(12, { digest: null });
    await store.save(saved);
    expect((await store.list('MINER_COUNTER'))[0]?.digest).toBeNull();
  });
});

const minuteMs = 60_000;

function header(position: number, takenAtMs: number, given: Partial<SnapshotHeader> = {}): SnapshotHeader {
  const { state: _state, ...rest } = snapshot(position, { takenAtMs, ...given });
  return rest;
}

/** What is left of snapshots that were saved one after another, `stepsMs` apart by the clock. */
function savedInOrder(stepsMs: readonly number[]) {
  let kept: SnapshotHeader[] = [];
  let takenAtMs = Date.UTC(2026, 0, 1);
  const takenAt: number[] = [];
  for (const [index, stepMs] of stepsMs.entries()) {
    takenAtMs += stepMs;
    takenAt.push(takenAtMs);
    const saved = header(index + 1, takenAtMs);
    kept = selectRetained(saved, kept);
    expect(kept).toContain(saved);
    expect(kept.length).toBeLessThanOrEqual(snapshotsKeptMax);
  }
  return { kept, takenAt, nowMs: takenAtMs };
}

describe('retained snapshots', () => {
  const bandsFromMs = [0, 3, 10, 60, 360, 1_440].map((minutes) => minutes * minuteMs);

  /** There is one about as old as each band asks for, once there has been time for it. */
  function expectEveryAge(kept: readonly SnapshotHeader[], nowMs: number, spanMs: number, stepMs: number) {
    for (const [index, fromMs] of bandsFromMs.entries()) {
      if (index === 0) continue;
      const reachMs = fromMs + (fromMs - (bandsFromMs[index - 1] as number)) + 2 * stepMs;
      if (spanMs < reachMs) continue;
      const ages = kept.map(({ takenAtMs }) => nowMs - takenAtMs).filter((ageMs) => ageMs >= fromMs);
      expect(Math.min(...ages)).toBeLessThanOrEqual(reachMs);
    }
  }

  it('are of every age, when one was saved each minute for days', () => {
    for (const minutes of [12, 20, 65, 130, 500, 4_000]) {
      const { kept, nowMs } = savedInOrder(Array.from({ length: minutes }, () => minuteMs));
      expectEveryAge(kept, nowMs, minutes * minuteMs, minuteMs);
    }
  });

  it('are of every age and bounded in number, at whatever pace they were saved', () => {
    const steps = fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 1, maxLength: 600 });
    const paceMs = fc.constantFrom(1_000, 20_000, minuteMs, 10 * minuteMs);
    fc.assert(
      fc.property(steps, paceMs, (factors, pace) => {
        const { kept, nowMs, takenAt } = savedInOrder(factors.map((factor) => (factor * pace) / 60));
        expectEveryAge(kept, nowMs, nowMs - (takenAt[0] as number), (120 * pace) / 60);
      }),
      { numRuns: 200 },
    );
  });

  it('stay of every position after a clock that was ahead is put right, and grow old again', () => {
    const ahead = [...Array.from({ length: 30 }, () => minuteMs), 3 * 86_400_000];
    const putRight = [-3 * 86_400_000 + minuteMs, ...Array.from({ length: 40 }, () => minuteMs)];
    const { kept, nowMs } = savedInOrder([...ahead, ...putRight]);
    expect(Math.max(...kept.map(({ position }) => position))).toBe(ahead.length + putRight.length);
    const ages = kept.map(({ takenAtMs }) => nowMs - takenAtMs);
    expect(ages.some((ageMs) => ageMs >= 10 * minuteMs && ageMs <= 20 * minuteMs)).toBe(true);
  });

  it('of folds that came before are kept, the newest of each, and do not take the place of others', () => {
    const others = [1, 2, 3, 4].flatMap((foldVersion) =>
      [10, 20].map((position) => header(position + foldVersion, foldVersion * minuteMs, { foldVersion })),
    );
    const saved = header(5, 100 * minuteMs, { foldVersion: 5 });
    expect(selectRetained(saved, others).map(({ position }) => position)).toEqual([5, 24, 23]);
  });

  it('above the one that was saved stay: an older state was restored, and is being folded on from', () => {
    const saved = header(5, 100 * minuteMs);
    const above = header(9, 90 * minuteMs);
    expect(selectRetained(saved, [above])).toEqual([saved, above]);
  });
});
