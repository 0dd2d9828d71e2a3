import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import type { SpanFoldState } from '../../actors/chain/fold/spanFoldState.ts';
import { createChainRestoration, encodeSpanFold } from '../../actors/chain/records/chainSnapshot.ts';
import { ownerPageDefault } from '../../actors/chain/rows/activityRows.ts';
import type { ChainState } from '../../actors/chain/state/chainState.ts';
import { twoPartPage } from '../../actors/pages/twoPartPage.ts';
import { captureActivity } from '../../actors/views/chain/ownerViews.ts';
import { openDatabase } from '../../storage/clickhouse/database.ts';
import { migrate } from '../../storage/migration/migrate.ts';
import { createStoredActivity, type StoredActivityOptions } from '../../storage/reading/storedActivity.ts';
import { openEnd } from '../../storage/runs/lineages.ts';
import { createSnapshotStore } from '../../storage/snapshots/snapshots.ts';
import type { SnapshotHeader } from '../../storage/tables/foldSnapshot.ts';
import { measureEventLoop } from '../measureEventLoop.ts';
import {
  applyClaims,
  createSyntheticChain,
  deriveAddress,
  eventCounts,
  fillActivity,
  holdersMax,
  type SyntheticSize,
  syntheticRun,
} from './syntheticChain.ts';

/** A process of the benchmark of snapshots: it saves a state, or restores another process's, and reports the cost. */

const stream = 'MINER_CHAIN';
const savesMeasured = 5;
const keptBlocks = 600;
const changesPerBlock = 5;
const mebibyte = 1024 * 1024;
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

async function restore({ dir, owners }: SnapshotTask) {
  const startedMs = performance.now();
  const { database, store } = await open(dir);
  const openedMs = performance.now() - startedMs;
  const [header] = await store.list(stream);
  if (header === undefined) throw new Error('nothing was saved');
  const { result, ms, cpuMs, longestStallMs } = await measureEventLoop(async () => {
    const restoration = createChainRestoration();
    for await (const records of store.read(header)) for (const record of records) restoration.add(record);
    return restoration.complete();
  });
  const restored = countOwners(findNewest(result.state));
  if (restored !== owners) throw new Error(`${restored} owners were restored, ${owners} were saved`);
  const residentMiB = process.memoryUsage.rss() / mebibyte;
  const pageMs = await measureFirstPages(findNewest(result.state), owners, database);
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

function countOwners({ owners, pastOwners }: ChainState): number {
  let count = owners.size;
  for (const text of pastOwners.values()) count += text.split(';').length;
  return count;
}

/** First pages of owners who have given their miners away. */
async function measureFirstPages(
  state: ChainState,
  owners: number,
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
  // The first page opens the table.
  for (let index = holdersMax; index < Math.min(owners, holdersMax + 1 + pagesMeasured); index++) {
    const list = captureActivity(state, deriveAddress(index), older);
    const startedMs = performance.now();
    const events = await twoPartPage(list, eventCounts.past, ownerPageDefault, new AbortController().signal);
    pagesMs.push(performance.now() - startedMs);
    if (events.length !== eventCounts.past) throw new Error(`a page of ${events.length} events`);
  }
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
