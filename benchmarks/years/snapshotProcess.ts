import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import type { SpanFoldState } from '../../actors/chain/fold/spanFoldState.ts';
import { createChainRestoration, encodeSpanFold } from '../../actors/chain/records/chainSnapshot.ts';
import { findFirstInMemory } from '../../actors/chain/rows/activityRows.ts';
import type { ChainState } from '../../actors/chain/state/chainState.ts';
import { openDatabase } from '../../storage/clickhouse/database.ts';
import { migrate } from '../../storage/migration/migrate.ts';
import { createStoredActivity, type StoredActivityOptions } from '../../storage/reading/storedActivity.ts';
import { openEnd } from '../../storage/runs/lineages.ts';
import { readSnapshotRecords } from '../../storage/snapshots/readSnapshotRecords.ts';
import { createSnapshotStore } from '../../storage/snapshots/snapshots.ts';
import type { SnapshotHeader } from '../../storage/tables/foldSnapshot.ts';
import { measureEventLoop } from '../measureEventLoop.ts';
import {
  applyClaims,
  createSyntheticChain,
  fillActivity,
  type SyntheticSize,
  syntheticRun,
} from './syntheticChain.ts';

/** A process of the benchmark of snapshots: it saves a state, or restores another process's, and reports the cost. */

const stream = 'MINER_CHAIN';
const savesMeasured = 5;
const keptBlocks = 600;
const changesPerBlock = 5;
const mebibyte = 1024 * 1024;
const pageEvents = 25;
const pagesMeasured = 20;

function headerAt(position: number): SnapshotHeader {
  return {
    stream,
    run: '',
    foldVersion: 1,
    configuration: 'synthetic',
    streamCreated: 'synthetic',
    position,
    digest: null,
    takenAtMs: position,
  };
}

function findNewest({ safe }: SpanFoldState): ChainState {
  const newest = safe.at(-1);
  if (newest === undefined) throw new Error('there is no safe state');
  return newest;
}

export interface SnapshotTask extends SyntheticSize {
  readonly does: 'save' | 'restore';
  readonly dir: string;
}

async function save({ dir, ...size }: SnapshotTask) {
  const { database, store } = await open(dir);
  const state = createSyntheticChain(size);
  const saves = [];
  for (let position = 1; position <= savesMeasured + 1; position++)
    saves.push(
      await measureEventLoop(() =>
        store.save(headerAt(position), encodeSpanFold({ state, newestSpanAtMs: null }), () => true),
      ),
    );
  await fillActivity(database, size);
  await database.close();
  // The first save opens the table.
  const measured = saves.slice(1);
  return {
    bytes: measured[0]?.result ?? 0,
    saveMs: measured.map(({ ms }) => ms),
    saveCpuMs: measured.map(({ cpuMs }) => cpuMs),
    saveStallMs: measured.map(({ longestStallMs }) => longestStallMs),
    bytesPerKeptBlock: measureKeptBlocks(findNewest(state)),
  };
}

/** Heap of a state that is kept for a reorganization. */
function measureKeptBlocks(newest: ChainState): number {
  const states = [newest];
  const before = measureHeapBytes();
  for (let block = 0; block < keptBlocks; block++)
    states.push(applyClaims(states.at(-1) ?? newest, changesPerBlock));
  return (measureHeapBytes() - before) / (states.length - 1);
}

async function restore({ dir, positions }: SnapshotTask) {
  const startedMs = performance.now();
  const { database, store } = await open(dir);
  const openedMs = performance.now() - startedMs;
  const [header] = await store.list(stream);
  if (header === undefined) throw new Error('nothing was saved');
  const { result, ms, cpuMs, longestStallMs } = await measureEventLoop(async () => {
    const restoration = createChainRestoration();
    for await (const records of readSnapshotRecords(store, header))
      for (const record of records) restoration.add(record);
    return restoration.complete();
  });
  const restored = findNewest(result.state).minerPositions.size;
  if (restored !== positions) throw new Error(`${restored} positions were restored, ${positions} were saved`);
  const residentMiB = process.memoryUsage.rss() / mebibyte;
  const pageMs = await measureOldestPages(findNewest(result.state), database);
  await database.close();
  return {
    restoreMs: ms,
    restoreCpuMs: cpuMs,
    restoreStallMs: longestStallMs,
    openedMs,
    residentMiB,
    pageMs,
  };
}

async function measureOldestPages(
  { owners, position }: ChainState,
  database: StoredActivityOptions['database'],
): Promise<number[]> {
  const runs = [{ run: syntheticRun, through: openEnd }];
  const older = createStoredActivity({
    database,
    writer: null,
    readRuns: async () => runs,
    awaitRows: async () => runs,
  });
  const pagesMs: number[] = [];
  for (const [owner, known] of owners) {
    const end = Math.min(pageEvents, findFirstInMemory(known));
    if (end === 0) continue;
    const startedMs = performance.now();
    const page = await older.read(
      { owner, from: 0, end, throughPosition: position },
      new AbortController().signal,
    );
    pagesMs.push(performance.now() - startedMs);
    if (page.length !== end) throw new Error(`a page of ${page.length} events, expected ${end}`);
    if (pagesMs.length > pagesMeasured) break;
  }
  // The first page opens the table.
  return pagesMs.slice(1);
}

async function open(dir: string) {
  const database = openDatabase({ path: dir });
  await migrate(database, pino({ level: 'error' }));
  return { database, store: createSnapshotStore(database) };
}

export type Saved = Awaited<ReturnType<typeof save>>;
export type Restored = Awaited<ReturnType<typeof restore>>;

process.once('message', async (task: SnapshotTask) => {
  process.send?.(await (task.does === 'save' ? save(task) : restore(task)));
  process.disconnect();
});

/** Collects garbage and returns the heap in use, in bytes. */
function measureHeapBytes(): number {
  setFlagsFromString('--expose-gc');
  const collectGarbage: unknown = runInNewContext('gc');
  if (typeof collectGarbage !== 'function') throw new Error('the garbage collector is not exposed');
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
