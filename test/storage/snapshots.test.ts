import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Database, openDatabase } from '../../storage/database.ts';
import type { FoldSnapshot, SnapshotHeader } from '../../storage/foldSnapshot.ts';
import { migrate } from '../../storage/migrations.ts';
import { createSnapshotStore, headersKept } from '../../storage/snapshots.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

function snapshot(position: number, given: Partial<FoldSnapshot> = {}): FoldSnapshot {
  return {
    stream: 'MINER_COUNTER',
    foldVersion: 1,
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
  it('come back as they were saved, newest first, streams apart', async () => {
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
      `ALTER TABLE ${tables.foldSnapshots} DROP PARTITION 'MINER_COUNTER.1.7.${saved.takenAtMs}'`,
    );
    expect(await store.load(saved)).toBeNull();
  });

  it('above a position go when the stream turned out to be another', async () => {
    const { store } = await opened();
    for (const position of [1, 2, 3]) await store.save(snapshot(position));
    await store.deleteAbove('MINER_COUNTER', 1);
    expect((await store.list('MINER_COUNTER')).map(({ position }) => position)).toEqual([1]);
  });

  it('are bounded in number however many are saved, and reach back as far as they can', () => {
    const minutes = fc.array(fc.integer({ min: 1, max: 600 }), { minLength: 1, maxLength: 400 });
    fc.assert(
      fc.property(minutes, (steps) => {
        let kept: SnapshotHeader[] = [];
        let takenAtMs = Date.UTC(2026, 0, 1);
        const firstMs = takenAtMs;
        for (const [index, step] of steps.entries()) {
          takenAtMs += step * 60_000;
          const { state: _state, ...header } = snapshot(index + 1, { takenAtMs });
          kept = headersKept([header, ...kept]);
          expect(kept[0]).toBe(header);
          expect(kept.length).toBeLessThanOrEqual(9);
        }
        const oldest = kept.at(-1) as SnapshotHeader;
        const spanMs = takenAtMs - (firstMs + (steps[0] as number) * 60_000);
        const reachMs = takenAtMs - oldest.takenAtMs;
        // A day back, or as far as there is anything; one step may lie between what is kept and what is asked for.
        expect(reachMs).toBeGreaterThanOrEqual(Math.min(spanMs, 86_400_000) * 0.999);
      }),
      { numRuns: 200 },
    );
  });
});
