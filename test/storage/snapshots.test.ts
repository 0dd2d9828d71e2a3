import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type FoldRecord, parseRecord } from '../../actors/foldRecord.ts';
import { findDamagedParts } from '../../storage/damagedParts.ts';
import type { Database } from '../../storage/database.ts';
import { attachSnapshots, createEmpty } from '../../storage/generations.ts';
import { isRefusal } from '../../storage/readSnapshotRecords.ts';
import { createSnapshotStore, type SnapshotChain, type SnapshotStore } from '../../storage/snapshots.ts';
import { StorageUnavailable } from '../../storage/storageUnavailable.ts';
import type {
  FoldedSource,
  SnapshotHeader,
  StoredSnapshotHeader,
} from '../../storage/tables/foldSnapshot.ts';
import { foldSnapshots, type SnapshotChunkRow } from '../../storage/tables/foldSnapshots.ts';
import { insertRows } from '../../storage/tables/table.ts';
import { resolveTables, type Tables } from '../../storage/tables.ts';
import { missingDigest } from '../../streams/jetstream/streamPosition.ts';
import { createRecords } from '../support/increments.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { openTables } from '../support/storage/openTables.ts';

const stream = 'MINER_COUNTER';

function buildHeader(position: number, overrides: Partial<SnapshotHeader> = {}): SnapshotHeader {
  return {
    stream,
    foldVersion: 1,
    configuration: 'one deployment',
    streamCreated: '2026-01-31T12:00:00.123456789Z',
    position,
    digest: `digest of ${position}`,
    takenAtMs: Date.UTC(2026, 0, 31, 12) + position,
    ...overrides,
  };
}

function buildRecord(key: string, value: unknown): FoldRecord {
  return { kind: 'value', key, value: value === null ? null : JSON.stringify(value) };
}

/** A state of two records that every position has, the first one with quotes. */
function buildState(position: number): FoldRecord[] {
  return [buildRecord('position', `'${position}\\'`), buildRecord(`only ${position}`, position)];
}

async function openStore(path = temporaryDirectory()) {
  const { database, tables } = await openTables({ path });
  const store = createSnapshotStore({ database, tables: () => tables, logger: silentLogger });
  return { database, tables, store };
}

/** Ends, as a kill would, before the statement that would be one too many. */
function failAfter(statements: number, database: Database): Database {
  let left = statements;
  const count = () => {
    if (left-- <= 0) throw new Error('killed');
  };
  return {
    ...database,
    insertBlocks: async (...overrides) => {
      count();
      await database.insertBlocks(...overrides);
    },
    command: async (...overrides) => {
      count();
      await database.command(...overrides);
    },
  };
}

/** Records that do not compress, so that they take several chunks. */
function largeState(): FoldRecord[] {
  let value = 1;
  return Array.from({ length: 2_000 }, (_, index) => {
    const numbers = Array.from({ length: 50 }, () => {
      value = (value * 48_271) % 2_147_483_647;
      return value.toString(36);
    });
    return buildRecord(String(index), numbers.join(''));
  });
}

async function readContent(store: SnapshotStore, header: StoredSnapshotHeader) {
  const records = createRecords();
  for await (const lines of store.read(header)) records.apply(lines.map(parseRecord));
  return records.sorted();
}

function contentOfRecords(...states: readonly (readonly FoldRecord[])[]) {
  const records = createRecords();
  for (const state of states) records.apply(state);
  return records.sorted();
}

async function listPositions(store: SnapshotStore, of: FoldedSource = stream) {
  return (await store.list(of)).map(({ position }) => position);
}

async function findNewest(store: SnapshotStore): Promise<StoredSnapshotHeader> {
  const [newest] = await store.list(stream);
  if (newest === undefined) throw new Error('there is no snapshot');
  return newest;
}

/** Changes one bit in the middle. */
function damageFile(file: string) {
  const bytes = readFileSync(file);
  const middle = Math.floor(bytes.length / 2);
  bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
  writeFileSync(file, bytes);
}

describe('snapshots', () => {
  it('are read back as they were saved, the highest position first, separately for each stream', async () => {
    const { store } = await openStore();
    const withoutMessage = buildHeader(10, { digest: null });
    await store.saveBase(withoutMessage, buildState(10));
    await store.saveBase(buildHeader(20), buildState(20));
    const other = buildHeader(15, { stream: 'MINER_PIPELINE', digest: missingDigest });
    await store.saveBase(other, buildState(15));
    const headers = await store.list(stream);
    expect(headers).toMatchObject([buildHeader(20), withoutMessage]);
    for (const header of headers)
      expect(await readContent(store, header)).toEqual(contentOfRecords(buildState(header.position)));
    expect(await store.list('MINER_PIPELINE')).toMatchObject([other]);
    expect(await store.list('MINER_CHAIN')).toEqual([]);
  });

  it('are read back as of each increment, with what it changed and removed, also in another generation', async () => {
    const { database, tables } = await openStore();
    // Each insert is repeated, as if its outcome had been unknown.
    const insertTwice: Database['insertBlocks'] = async (...rows) => {
      for (let time = 0; time < 2; time++) await database.insertBlocks(...rows);
    };
    const repeating = { ...database, insertBlocks: insertTwice };
    const store = createSnapshotStore({ database: repeating, tables: () => tables, logger: silentLogger });
    let chain = await store.saveBase(buildHeader(10), buildState(10));
    const changes = [
      [buildRecord('position', 20), buildRecord('only 20', 'new')],
      [buildRecord('only 10', null), ...largeState()],
      [buildRecord('only 10', 'again'), buildRecord('only 20', null)],
    ];
    for (const [index, records] of changes.entries())
      chain = await store.saveIncrement(chain, buildHeader(20 + index), records);
    const headers = await store.list(stream);
    expect(headers.map(({ position, part }) => [position, part])).toEqual([
      [22, 3],
      [21, 2],
      [20, 1],
      [10, 0],
    ]);
    for (const header of headers) {
      const expected = contentOfRecords(buildState(10), ...changes.slice(0, header.part));
      expect(await readContent(store, header)).toEqual(expected);
    }
    const rebuilt = resolveTables(2);
    await createEmpty(database, rebuilt);
    const rebuiltStore = createSnapshotStore({ database, tables: () => rebuilt, logger: silentLogger });
    for (const [position, expected] of [
      [21, [21, 20, 10]],
      [null, [22, 21, 20, 10]],
    ] as const) {
      await attachSnapshots(database, { from: tables, to: rebuilt, stream, position });
      expect(await listPositions(rebuiltStore)).toEqual(expected);
    }
  });

  it('are saved by a single insert, however large', async () => {
    const { database, tables } = await openStore();
    let inserts = 0;
    const counting: Database = {
      ...database,
      insertBlocks: (...blocks) => {
        inserts++;
        return database.insertBlocks(...blocks);
      },
    };
    const store = createSnapshotStore({ database: counting, tables: () => tables, logger: silentLogger });
    const { baseBytes } = await store.saveBase(buildHeader(10), largeState());
    expect(baseBytes).toBeGreaterThan(2 * 192 * 1024);
    expect(inserts).toBe(1);
  });

  it('take increments until these are as large as the base, and never into other tables', async () => {
    const { database, tables } = await openStore();
    let active: Tables = tables;
    const store = createSnapshotStore({ database, tables: () => active, logger: silentLogger });
    let chain = await store.saveBase(buildHeader(1), buildState(1));
    for (let position = 2; store.canExtend(chain); position++)
      chain = await store.saveIncrement(chain, buildHeader(position), largeState().slice(0, 400));
    expect(chain.incrementBytes).toBeGreaterThan(256 * 1024);
    expect(chain.part).toBe(3);
    const other = await store.saveBase(buildHeader(50), buildState(50));
    expect(store.canExtend(other)).toBe(true);
    active = { ...tables, foldSnapshots: 'fold_snapshots_g2' };
    expect(store.canExtend(other)).toBe(false);
  });

  it('are complete wherever a kill ends what writes them, and keep what was saved before', async () => {
    const { database, tables, store } = await openStore();
    const saved = new Map([
      [10, contentOfRecords(buildState(10))],
      [20, contentOfRecords(buildState(10), largeState())],
      [30, contentOfRecords(largeState(), buildState(30))],
      [40, contentOfRecords(largeState(), buildState(30), buildState(40))],
    ]);
    const saveAll = async (killed: SnapshotStore, done: number[]) => {
      let chain = await killed.saveBase(buildHeader(10), buildState(10));
      done.push(10);
      chain = await killed.saveIncrement(chain, buildHeader(20), largeState());
      done.push(20);
      chain = await killed.saveBase(buildHeader(30), [...largeState(), ...buildState(30)]);
      done.push(30);
      await killed.saveIncrement(chain, buildHeader(40), buildState(40));
      done.push(40);
    };
    let isComplete = false;
    let kills = 0;
    for (; !isComplete; kills++) {
      await database.command(`TRUNCATE TABLE ${tables.foldSnapshots}`);
      // Another deployment's, and more of them than are kept: they are removed with the second complete state.
      for (const foldVersion of [7, 8, 9])
        await store.saveBase(buildHeader(5, { foldVersion }), buildState(5));
      const killed = createSnapshotStore({
        database: failAfter(kills, database),
        tables: () => tables,
        logger: silentLogger,
      });
      const done: number[] = [];
      isComplete = await saveAll(killed, done).then(
        () => true,
        () => false,
      );
      const own = (await store.list(stream)).filter(({ foldVersion }) => foldVersion === 1);
      expect(own.map(({ position }) => position)).toEqual(expect.arrayContaining(done));
      for (const header of own) expect(await readContent(store, header)).toEqual(saved.get(header.position));
      // The next save works as if nothing had happened.
      await store.saveBase(buildHeader(60), buildState(60));
      expect(await readContent(store, await findNewest(store))).toEqual(contentOfRecords(buildState(60)));
    }
    expect(kills).toBeGreaterThan(5);
  });

  it('that were damaged are never returned as if they were complete', async () => {
    const { database, tables, store } = await openStore();
    // A cut connection damages nothing: no older snapshot is restored.
    expect(isRefusal(new StorageUnavailable('cut'))).toBe(false);
    const chain = await store.saveBase(buildHeader(10), largeState());
    await store.saveIncrement(chain, buildHeader(20), buildState(20));
    const expected = new Map([
      [10, contentOfRecords(largeState())],
      [20, contentOfRecords(largeState(), buildState(20))],
    ]);
    const table = tables.foldSnapshots;
    const rows = (await database.select(`SELECT ${foldSnapshots.list} FROM ${table}`)).map(
      foldSnapshots.read,
    );
    const damages: ((row: SnapshotChunkRow) => readonly SnapshotChunkRow[])[] = [
      () => [],
      (row) => [{ ...row, chunk: row.chunk + 1 }],
    ];
    for (const damaged of rows)
      for (const damage of damages) {
        await database.command(`TRUNCATE TABLE ${table}`);
        const left = rows.flatMap((row) => (row === damaged ? damage(row) : [row]));
        for (const row of left) await insertRows(database, foldSnapshots, [row], table);
        const read = [];
        for (const header of await store.list(stream)) {
          const content = await readContent(store, header).catch((error: unknown) => {
            expect(isRefusal(error)).toBe(true);
            return null;
          });
          if (content !== null) expect(content).toEqual(expected.get(header.position));
          if (content !== null) read.push(header.position);
        }
        expect(read).toEqual(damaged.part === 1 ? [10] : []);
      }
  });

  it.each([
    // A read notices it.
    ['is damaged', damageFile, []],
    // ClickHouse notices it at the start, and drops the part.
    ['is cut short', (file: string) => truncateSync(file, Math.floor(statSync(file).size / 2)), [1]],
    ['is missing', (file: string) => unlinkSync(file), [1]],
  ] as const)('of which a file %s are not restored, the ones before are', async (_, damage, setAside) => {
    // Incompressible, so most of the file is its payload.
    const texts = Array.from({ length: 50 }, (_, at) =>
      createHash('sha256').update(String(at)).digest('base64'),
    );
    const state = [buildRecord('1', texts)];
    const path = temporaryDirectory();
    const first = await openStore(path);
    const listFiles = () =>
      readdirSync(path, { recursive: true, encoding: 'utf8' })
        .filter((one) => one.endsWith('/data.bin'))
        .map((one) => join(path, one));
    await first.store.saveBase(buildHeader(10), state);
    const before = listFiles();
    await first.store.saveBase(buildHeader(20), state);
    const [file] = listFiles().filter((one) => !before.includes(one));
    if (file === undefined) throw new Error('the snapshot has no file of its own');
    await first.database.close();
    damage(file);

    const { database, store } = await openStore(path);
    expect((await findDamagedParts(database)).map(({ count }) => count)).toEqual(setAside);
    const restored: number[] = [];
    for (const header of await store.list(stream)) {
      const content = await readContent(store, header).catch((error: unknown) => {
        expect(isRefusal(error), String(error)).toBe(true);
        return null;
      });
      if (content === null) continue;
      expect(content).toEqual(contentOfRecords(state));
      restored.push(header.position);
    }
    expect(restored).toEqual([10]);
  });

  it('with a missing part are named in the log, and earlier ones stay', async () => {
    const { database, tables } = await openStore();
    const lines: unknown[] = [];
    const logger = Object.assign(Object.create(silentLogger), { error: (line: unknown) => lines.push(line) });
    const store = createSnapshotStore({ database, tables: () => tables, logger });
    let chain: SnapshotChain = await store.saveBase(buildHeader(10), buildState(10));
    for (const position of [20, 30, 40]) chain = await store.saveIncrement(chain, buildHeader(position), []);
    await database.command(
      `ALTER TABLE ${tables.foldSnapshots} DELETE WHERE part = 2 SETTINGS mutations_sync = 1`,
    );
    expect(await listPositions(store)).toEqual([20, 10]);
    expect(lines).toMatchObject([{ snapshot: `${chain.snapshot}+3`, missing: 2 }]);
  });

  it('above a position are removed when the stream has diverged, also in the middle of increments', async () => {
    const { store } = await openStore();
    let chain = await store.saveBase(buildHeader(1), buildState(1));
    for (const position of [2, 3]) chain = await store.saveIncrement(chain, buildHeader(position), []);
    await store.saveBase(buildHeader(4), buildState(4));
    await store.deleteAbove(stream, 2);
    expect(await listPositions(store)).toEqual([2, 1]);
    await store.deleteAbove(stream, 1);
    expect(await listPositions(store)).toEqual([1]);
    await store.deleteAbove(stream, 0);
    expect(await listPositions(store)).toEqual([]);
  });

  it('keep every increment of a state that is kept', async () => {
    const { store } = await openStore();
    let position = 0;
    for (let base = 0; base < 12; base++) {
      let chain = await store.saveBase(buildHeader(++position), [buildRecord('at', position)]);
      for (let part = 0; part < 2; part++)
        chain = await store.saveIncrement(chain, buildHeader(++position), [buildRecord('at', position)]);
    }
    const headers = await store.list(stream);
    for (const header of headers)
      expect(await readContent(store, header)).toEqual([['value at', String(header.position)]]);
    expect(headers.map(({ ordinal }) => ordinal)).toEqual(headers.map((header) => header.position));
    expect(headers.length).toBeLessThan(position);
    expect(Math.min(...headers.map((header) => header.position))).toBeLessThan(position - 20);
  });
});
