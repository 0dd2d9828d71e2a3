import type { OwnerActivityRow } from '../../actors/chain/rows/activityRows.ts';
import { toOwnerEvent } from '../../actors/chain/rows/activityRows.ts';
import type { ChainState } from '../../actors/chain/state/chainState.ts';
import type { OwnerEvent } from '../../actors/chain/state/ownerState.ts';
import { type ActivityRange, type OlderActivity, StoreUnavailable } from '../../actors/pages/olderRows.ts';
import type { Database } from '../clickhouse/database.ts';
import { type LineageRuns, selectRuns } from '../runs/lineages.ts';
import type { ReadRuns } from '../runs/runsReader.ts';
import { ownerActivity } from '../tables/ownerActivity.ts';
import { type AwaitRows, awaitStored, type StoringProgress } from './awaitRows.ts';

export interface StoredActivityOptions {
  readonly database: Database;
  /** Writer of the chain's rows; null in a process that only reads. */
  readonly writer: Pick<StoringProgress, 'flushNow' | 'isFailing'> | null;
  readonly readRuns: ReadRuns;
  readonly awaitRows: AwaitRows;
}

/**
 * Events of owners that memory has evicted, from ClickHouse. They are numbered, so a reader notices a gap: it
 * waits, and asks which rows count by now, since another process may have begun a run after a reorganization. Then it refuses.
 */
export function createStoredActivity(options: StoredActivityOptions): OlderActivity {
  const { database, writer, readRuns, awaitRows } = options;

  async function readOnce(range: ActivityRange, runs: LineageRuns, signal: AbortSignal) {
    const { owner, from, end, throughPosition } = range;
    const runCondition = selectRuns(runs);
    const rows = await database.select(
      // Sorting and removing duplicates happens below: in ClickHouse it would take a sixth of the whole statement.
      `SELECT ${ownerActivity.list} FROM ${ownerActivity.name}
       WHERE ${runCondition.sql} AND owner = {owner:String} AND event_number >= {from:UInt64} AND event_number < {end:UInt64}
         AND position <= {throughPosition:UInt64}`,
      { ...runCondition.parameters, owner, from, end, throughPosition },
      signal,
    );
    return takeLatest(rows.map(ownerActivity.read)).map(toOwnerEvent);
  }

  async function readAll(range: ActivityRange, signal: AbortSignal): Promise<readonly OwnerEvent[]> {
    let found: readonly OwnerEvent[] = [];
    let runs = await readRuns();
    const isComplete = async () => {
      found = await readOnce(range, runs, signal);
      if (found.length === range.end - range.from) return true;
      runs = await readRuns(true);
      if (writer?.isFailing()) throw new StoreUnavailable('rows are not stored at the moment');
      writer?.flushNow();
      return false;
    };
    await awaitStored(isComplete, `the older activity of ${range.owner}`, signal);
    return found;
  }

  async function readTransaction(
    transactionHash: string,
    { activityProgress, position }: Pick<ChainState, 'activityProgress' | 'position'>,
    signal: AbortSignal,
  ): Promise<readonly OwnerEvent[]> {
    const block = activityProgress.rowsThroughBlock;
    if (block === null) return [];
    const condition = { sql: 'block_number = {block:UInt64}', parameters: { block } };
    const row = { entry: activityProgress, table: ownerActivity.name, condition };
    const runCondition = selectRuns(await awaitRows({ position, row }, signal));
    const rows = await database.select(
      `SELECT ${ownerActivity.list} FROM ${ownerActivity.name}
       WHERE ${runCondition.sql} AND transaction_hash = {transactionHash:String} AND position <= {position:UInt64}`,
      { ...runCondition.parameters, transactionHash, position },
      signal,
    );
    return rows.map(ownerActivity.read).map(toOwnerEvent);
  }

  return { read: readAll, ofTransaction: readTransaction };
}

/** Sorts by number without duplicates: until parts are merged, the row of the highest position counts. */
function takeLatest(rows: readonly OwnerActivityRow[]): readonly OwnerActivityRow[] {
  const latest = new Map<number, OwnerActivityRow>();
  for (const row of rows) {
    const other = latest.get(row.eventNumber);
    if (other === undefined || row.position > other.position) latest.set(row.eventNumber, row);
  }
  return [...latest.values()].sort((a, b) => a.eventNumber - b.eventNumber);
}
