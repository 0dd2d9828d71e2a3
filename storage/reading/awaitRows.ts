import {
  exhaustMap,
  filter,
  firstValueFrom,
  from,
  interval,
  map,
  NEVER,
  race,
  takeUntil,
  takeWhile,
  timer,
} from 'rxjs';
import { StoreUnavailable } from '../../actors/pages/olderRows.ts';
import type { Database, RowCondition } from '../clickhouse/database.ts';
import { isSameLineage, type LineageRuns, selectRuns } from '../runs/lineages.ts';
import type { ReadRuns } from '../runs/runsReader.ts';

export interface StoringProgress {
  /** Stream position through which all rows are stored. */
  storedThrough(): number;
  /** Stores the waiting rows without gathering more. */
  flushNow(): void;
  /** Whether ClickHouse currently refuses rows. */
  isFailing(): boolean;
}

/** The newest entry that memory has evicted. Rows are stored in the order of the stream, so once its row is stored, all rows of evicted entries are. */
export interface NewestEvicted {
  /** Sequence of the message that stores its row. */
  readonly position: number;
  /** Finds its row; null if the row is known to be stored. */
  readonly row: {
    /** Another entry at the same place, as after a stream has lost its end, is another object. */
    readonly entry: object;
    readonly table: string;
    readonly condition: RowCondition;
  } | null;
}

/** How long a reader waits for rows that are not stored yet: the writer stores those that have left memory within a second. */
const awaitedMs = 1_500;
export const pollMs = 25;

/**
 * Resolves once some rows are stored.
 *
 * @param what they are, for the error.
 * @throws StoreUnavailable (as a rejection) if that takes too long, or at the signal.
 */
export async function awaitStored(
  isStored: () => boolean | Promise<boolean>,
  what: string,
  signal: AbortSignal,
): Promise<void> {
  const wasStored = await pollUntil(isStored, { everyMs: pollMs, limitMs: awaitedMs, signal });
  if (!wasStored) throw new StoreUnavailable(`ClickHouse does not hold ${what} yet`);
}

/** Longest time that a page waits for a statement, so that a client knows within two seconds that it gets no answer. */
const selectMs = 1_800;

/** The database for what clients ask: a statement that takes too long, as while ClickHouse is frozen, is cancelled. */
export function limitSelects(database: Database): Database {
  return {
    ...database,
    select: (sql, parameters, signal) => {
      const ending = new AbortController();
      const late$ = timer(selectMs).pipe(
        map(() => {
          ending.abort();
          throw new StoreUnavailable('ClickHouse has not answered in time');
        }),
      );
      const either = signal === undefined ? ending.signal : AbortSignal.any([signal, ending.signal]);
      return firstValueFrom(race(from(database.select(sql, parameters, either)), late$));
    },
  };
}

/**
 * Resolves once ClickHouse holds all entries that memory has evicted, with the runs that hold them.
 *
 * @throws StoreUnavailable (as a rejection) if that takes too long, if ClickHouse refuses rows, or at the signal.
 */
export type AwaitRows = (newest: NewestEvicted, signal: AbortSignal) => Promise<LineageRuns>;

interface AwaitRowsOptions {
  readonly database: Database;
  /** Writer of the rows, which stores at once while a reader waits; null in a process that only reads, which looks for the newest row. */
  readonly writer: StoringProgress | null;
  readonly readRuns: ReadRuns;
  /** The rows, for errors. */
  readonly what: string;
}

export function createAwaitRows({ database, writer, readRuns, what }: AwaitRowsOptions): AwaitRows {
  /** The newest row that was found. A newer history may not have it. */
  let found: { readonly entry: object; readonly runs: LineageRuns } | null = null;

  async function isInRows({ row }: NewestEvicted, runs: LineageRuns, signal: AbortSignal): Promise<boolean> {
    if (row === null || (found?.entry === row.entry && isSameLineage(found.runs, runs))) return true;
    const { entry, table, condition } = row;
    const runCondition = selectRuns(runs);
    const rows = await database.select(
      `SELECT 1 FROM ${table} WHERE ${runCondition.sql} AND ${condition.sql} LIMIT 1`,
      { ...condition.parameters, ...runCondition.parameters },
      signal,
    );
    if (rows.length > 0) found = { entry, runs };
    return rows.length > 0;
  }

  return async (newest, signal) => {
    let runs = await readRuns();
    const isStored = async () => {
      if (writer === null) {
        if (await isInRows(newest, runs, signal)) return true;
        runs = await readRuns(true);
        return false;
      }
      if (writer.storedThrough() >= newest.position) return true;
      if (writer.isFailing()) throw new StoreUnavailable('rows are not stored at the moment');
      writer.flushNow();
      return false;
    };
    await awaitStored(isStored, what, signal);
    return runs;
  };
}

interface PollOptions {
  readonly everyMs: number;
  /** Gives up after this time; never if omitted. */
  readonly limitMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * Checks a condition at once, then at an interval, since ClickHouse sends no notifications. Checks never overlap. If one fails, so does the
 * promise.
 *
 * @returns whether the condition was met before the limit and the abort.
 */
export async function pollUntil(
  isMet: () => boolean | Promise<boolean>,
  { everyMs, limitMs, signal }: PollOptions,
): Promise<boolean> {
  if (await isMet()) return true;
  const answers$ = interval(everyMs).pipe(
    takeWhile(() => signal?.aborted !== true),
    exhaustMap(async () => isMet()),
    takeUntil(limitMs === undefined ? NEVER : timer(limitMs)),
  );
  return firstValueFrom(answers$.pipe(filter(Boolean)), { defaultValue: false });
}
