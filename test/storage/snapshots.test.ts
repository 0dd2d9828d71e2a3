import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FoldRecord } from '../../actors/folds/foldRecord.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { findDamagedParts } from '../../storage/clickhouse/systemTables.ts';
import { type Lineage, noteLineage, openEnd } from '../../storage/runs/lineages.ts';
import type { IsCounted } from '../../storage/runs/mergedRuns.ts';
import { createSnapshotStore, type SnapshotStore } from '../../storage/snapshots/snapshots.ts';
import { isRefusal } from '../../storage/snapshots/snapshotText.ts';
import type { SnapshotHeader, StoredSnapshotHeader } from '../../storage/tables/foldSnapshot.ts';
import { foldStates } from '../../storage/tables/foldStates.ts';
import { missingDigest } from '../../streams/jetstream/proofs/streamPosition.ts';
import { temporaryDirectory } from '../support/processes/lifetime.ts';
import { sortRecords } from '../support/sortRecords.ts';
import { openTables } from '../support/storage/openTables.ts';
import { someLineage } from '../support/storage/someLineage.ts';

const stream = 'MINER_COUNTER';
const countsAll: IsCounted = () => true;

function buildHeader(position: number, overrides: Partial<SnapshotHeader> = {}): SnapshotHeader {
  return {
    stream,
    run: '',
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
  return { kind: 'value', key, value: JSON.stringify(value) };
}

/** A state of two records that every position has, the first one with quotes. */
function buildState(position: number): FoldRecord[] {
  return [buildRecord('position', `'${position}\\'`), buildRecord(`only ${position}`, position)];
}

async function openStore(path = temporaryDirectory()) {
  const { database } = await openTables({ path });
  const store = createSnapshotStore(database);
  return { database, store };
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
  return Array.from({ length: 10_000 }, (_, index) => {
    const numbers = Array.from({ length: 50 }, () => {
      value = (value * 48_271) % 2_147_483_647;
      return value.toString(36);
    });
    return buildRecord(String(index), numbers.join(''));
  });
}

async function readContent(store: SnapshotStore, header: StoredSnapshotHeader) {
  const read: FoldRecord[] = [];
  for await (const records of store.read(header)) read.push(...records);
  return sortRecords(read);
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
  it('are read back as saved, the highest position first, per stream', async () => {
    const { store } = await openStore();
    const withoutMessage = buildHeader(10, { digest: null });
    await store.save(withoutMessage, buildState(10), countsAll);
    await store.save(buildHeader(20), buildState(20), countsAll);
    const other = buildHeader(15, { stream: 'MINER_PIPELINE', digest: missingDigest });
    await store.save(other, buildState(15), countsAll);
    const headers = await store.list(stream);
    expect(headers).toMatchObject([buildHeader(20), withoutMessage]);
    for (const header of headers)
      expect(await readContent(store, header)).toEqual(sortRecords(buildState(header.position)));
    expect(await store.list('MINER_PIPELINE')).toMatchObject([other]);
    expect(await store.list('MINER_CHAIN')).toEqual([]);
  });

  it('are saved by a single insert, however large, and read back once if that was repeated', async () => {
    const { database } = await openStore();
    let inserts = 0;
    const insertBlocks: Database['insertBlocks'] = async (...rows) => {
      inserts++;
      for (let time = 0; time < 2; time++) await database.insertBlocks(...rows);
    };
    const store = createSnapshotStore({ ...database, insertBlocks });
    const state = largeState();
    for (const position of [20, 10])
      expect(await store.save(buildHeader(position), state, countsAll)).toBeGreaterThan(2 * 192 * 1024);
    expect(inserts).toBe(2);
    const headers = await store.list(stream);
    expect(headers.map(({ position }) => position)).toEqual([20, 10]);
    for (const header of headers) expect(await readContent(store, header)).toEqual(sortRecords(state));
  });

  it('are complete wherever a kill ends their writer', async () => {
    const { database, store } = await openStore();
    const states = new Map([10, 20, 30].map((position) => [position, buildState(position)] as const));
    let isComplete = false;
    let kills = 0;
    for (; !isComplete; kills++) {
      await database.command(`TRUNCATE TABLE ${foldStates.name}`);
      // Another deployment's, and more of them than are kept: they are removed with the next state.
      for (const foldVersion of [7, 8, 9])
        await store.save(buildHeader(5, { foldVersion, takenAtMs: foldVersion }), buildState(5), countsAll);
      const killed = createSnapshotStore(failAfter(kills, database));
      const done: number[] = [];
      try {
        for (const [position, state] of states) {
          await killed.save(buildHeader(position), state, countsAll);
          done.push(position);
        }
        isComplete = true;
      } catch {
        isComplete = false;
      }
      const own = (await store.list(stream)).filter(({ foldVersion }) => foldVersion === 1);
      expect(own.map(({ position }) => position)).toEqual(expect.arrayContaining(done));
      for (const header of own)
        expect(await readContent(store, header)).toEqual(sortRecords(states.get(header.position) ?? []));
      // The next save works as if nothing had happened.
      await store.save(buildHeader(60), buildState(60), countsAll);
      expect(await readContent(store, await findNewest(store))).toEqual(sortRecords(buildState(60)));
    }
    expect(kills).toBeGreaterThan(3);
  });

  it.each([
    // A read notices it.
    ['is damaged', damageFile, []],
    // ClickHouse notices it at the start, and drops the part.
    ['is cut short', (file: string) => truncateSync(file, Math.floor(statSync(file).size / 2)), [1]],
    ['is missing', (file: string) => unlinkSync(file), [1]],
  ] as const)('are not restored with a file %s, but the ones before', async (_, damage, setAside) => {
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
    await first.store.save(buildHeader(10), state, countsAll);
    const before = listFiles();
    await first.store.save(buildHeader(20), state, countsAll);
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
      expect(content).toEqual(sortRecords(state));
      restored.push(header.position);
    }
    expect(restored).toEqual([10]);
  });

  it('are never pushed out by runs that do not count', async () => {
    const { database, store } = await openStore();
    const note = (runs: readonly string[], change: Partial<Lineage> = {}) =>
      noteLineage(
        database,
        { ...someLineage, stream, runs: runs.map((run) => ({ run, through: openEnd })), ...change },
        0,
      );
    const save = (position: number, run: string, counts: IsCounted, foldVersion = 2) => {
      // Each stays as the newest of its day.
      const header = buildHeader(position, { run, foldVersion, takenAtMs: Date.UTC(2026, 0, position) });
      return store.save(header, buildState(position), counts);
    };
    await note(['earlier'], { foldVersion: 1 });
    for (const position of [4, 5, 6]) await save(position, 'earlier', countsAll, 1);
    // It counts until the next one has everything.
    await note(['own'], { foldVersion: 2, step: 2 });
    const countsOwn: IsCounted = ({ run }) => run === 'own';
    for (const position of [1, 2, 3, 7, 8, 9]) await save(position, 'own', countsOwn);
    // Of a replay of the earlier version, and of one that has ended.
    await note(['replay'], { foldVersion: 1, cause: 'filling', step: 3 });
    for (const run of ['replay', 'ended'])
      for (const position of [20, 21]) await save(position, run, countsOwn, 1);
    // A process that began after 3 and was killed, and then another one.
    const continued: IsCounted = ({ run, position }) => run === 'own' && position <= 3;
    await note(['lost'], { foldVersion: 2, cause: 'pending', step: 3 });
    for (const position of [10, 11, 12])
      await save(position, 'lost', (one) => one.run === 'lost' || continued(one));
    await save(4, 'next', continued);
    expect((await store.list(stream)).map(({ run, position }) => `${run} ${position}`)).toEqual([
      ...['replay 21', 'lost 12', 'own 9', 'earlier 6', 'next 4'],
      ...['own 3', 'own 2', 'own 1'],
    ]);
  });
});
