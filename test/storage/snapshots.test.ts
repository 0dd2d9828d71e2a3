import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Database, openDatabase } from '../../storage/database.ts';
import type { FoldSnapshot, SnapshotHeader, StoredSnapshotHeader } from '../../storage/foldSnapshot.ts';
import { migrate } from '../../storage/migrations.ts';
import { selectRetained, snapshotsKeptMax } from '../../storage/snapshotRetention.ts';
import { createSnapshotStore } from '../../storage/snapshots.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { silentLogger } from '../support/silentLogger.ts';

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
    insertBytes: async (...given) => {
      if (left-- === 0) throw new Error('killed');
      await database.insertBytes(...given);
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
    expect(await store.load(headers[0] as SnapshotHeader)).toMatchObject(saved[1] as FoldSnapshot);
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

function header(ordinal: number, given: Partial<StoredSnapshotHeader> = {}): StoredSnapshotHeader {
  const { state: _state, ...rest } = snapshot(ordinal, given);
  return { ...rest, ordinal, ...given };
}

/** What is left of so many snapshots, saved one after another. */
function savedInOrder(count: number): StoredSnapshotHeader[] {
  let kept: StoredSnapshotHeader[] = [];
  for (let ordinal = 1; ordinal <= count; ordinal++) {
    const saved = header(ordinal);
    kept = selectRetained(saved, kept);
    expect(kept).toContain(saved);
    expect(kept.length).toBeLessThanOrEqual(snapshotsKeptMax);
  }
  return kept;
}

describe('retained snapshots', () => {
  it('are of every age, and bounded in number, however many were saved', () => {
    const bandsFrom = [1, 4, 16, 64, 256, 1_024, 4_096];
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9_000 }), (count) => {
        const kept = savedInOrder(count);
        for (const [index, from] of bandsFrom.entries()) {
          const oldest = from + (from - (bandsFrom[index - 1] ?? 0));
          if (count <= oldest) continue;
          const ages = kept.map(({ ordinal }) => count - ordinal).filter((age) => age >= from);
          expect(Math.min(...ages)).toBeLessThanOrEqual(oldest);
        }
      }),
      { numRuns: 20, examples: [[12], [20], [65], [130], [500], [4_000]] },
    );
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

  it('of folds that came before are kept, the newest of each, and do not take the place of others', () => {
    const others = [1, 2, 3, 4].flatMap((foldVersion) =>
      [1, 2].map((number) => header(foldVersion * 10 + number, { foldVersion })),
    );
    const saved = header(50, { foldVersion: 5 });
    expect(selectRetained(saved, others).map(({ ordinal }) => ordinal)).toEqual([50, 42, 32]);
  });

  it('of higher positions than the saved one stay: an older state was restored, and is being folded on from', () => {
    const saved = header(9, { position: 5 });
    const above = header(8, { position: 20 });
    expect(selectRetained(saved, [above])).toEqual([saved, above]);
  });
});
