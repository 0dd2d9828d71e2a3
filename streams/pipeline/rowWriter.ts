import type { Logger } from 'pino';
import {
  BehaviorSubject,
  concatMap,
  finalize,
  from,
  type MonoTypeOperatorFunction,
  type Observable,
  Subject,
  tap,
} from 'rxjs';
import type { Clock } from '../../actors/clock.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import type { StoringProgress } from '../../storage/reading/awaitRows.ts';
import { readingsRetained } from '../../storage/reading/recentReadings.ts';
import { buildInserts, type EncodedRows, encodeRows, type RowInsert } from '../../storage/rows/rowInserts.ts';
import type { FoldedRows } from '../../storage/tables/foldedRows.ts';
import { deliverInOrder } from '../operators/deliverInOrder.ts';
import type { PipelineItem } from './pipelineItem.ts';

/**
 * Few rows are gathered for this long, since every insert creates a part that has to be merged. Readings stay in memory for longer, but with every final
 * block a read replica evicts an owner's activity. A stream that is held back waits for rows, too.
 */
const gatherMs = 10_000;
const shortGatherMs = 1_000;

interface RowWriterStatus {
  readonly bufferedBytes: number;
  readonly writtenRows: ReadonlyMap<string, number>;
  readonly failures: number;
  /** Null unless rows cannot be stored at the moment: ClickHouse refuses them, or this process cannot prove its lease. */
  readonly failingForMs: number | null;
  /** Time since the first attempt to store the current batch; null while none is being stored. */
  readonly storingForMs: number | null;
}

/** Stores the rows of one stream's pipeline in ClickHouse. */
export interface RowWriter extends StoringProgress {
  /** Emits the current progress at once, then after each change. */
  readonly progress$: Observable<{ readonly storedThrough: number; readonly isFailing: boolean }>;
  encode(rows: FoldedRows): EncodedRows;
  /**
   * Emits each item once its rows and all earlier ones are stored.
   *
   * @param isHeldBack whether the rest of the stream waits until more is stored.
   */
  afterInsert(isHeldBack: () => boolean): MonoTypeOperatorFunction<PipelineItem>;
  /** Called before a pipeline begins after `position`: rows above it may not count. */
  resumeAfter(position: number): void;
  /** Resolves when no insert is in progress, not even one of a cancelled pipeline. */
  whenIdle(): Promise<void>;
  status(): RowWriterStatus;
}

interface RowWriterOptions {
  readonly stream: InputStreamName;
  /**
   * Rows of one batch, approximately. Each insert costs as much as 20,000 rows. A read replica has as many readings in memory, so by default it needs none
   * that still waits for its batch.
   */
  readonly batchRows?: number;
  readonly database: Database;
  /** The run that the rows belong to; asked for each piece of the stream. */
  readonly run: () => string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Writes rows in batches, one at a time, in the order of the stream. A batch whose outcome is unknown is sent again
 * unchanged until ClickHouse acknowledges it: rows of a run have natural keys, so writing them twice has no effect.
 */
export function createRowWriter(options: RowWriterOptions): RowWriter {
  const { stream, batchRows = readingsRetained, run, clock, logger } = options;
  const flush$ = new Subject<void>();
  const inserts = createBatchInserts(options);
  const counts = { bufferedBytes: 0, failures: 0 };
  let bufferedRows = 0;
  const progress$ = new BehaviorSubject({ storedThrough: 0, isFailing: false });
  let failingSinceMs: number | null = null;

  function report(change: Partial<(typeof progress$)['value']>) {
    progress$.next({ ...progress$.value, ...change });
  }

  function measureSince(sinceMs: number | null): number | null {
    return sinceMs === null ? null : clock.monotonicMs() - sinceMs;
  }

  function onFailure(error: unknown) {
    counts.failures++;
    if (failingSinceMs !== null) return;
    failingSinceMs = clock.monotonicMs();
    report({ isFailing: true });
    logger.error({ stream, err: error, bufferedRows }, 'rows are not stored; they wait');
  }

  function onRecovery() {
    const failedForMs = Math.round(clock.monotonicMs() - (failingSinceMs ?? clock.monotonicMs()));
    failingSinceMs = null;
    report({ isFailing: false });
    logger.info({ stream, failedForMs, bufferedRows }, 'rows are stored again');
  }

  return {
    encode: (rows) => encodeRows(rows, run()),

    afterInsert: (isHeldBack) => (source) =>
      source.pipe(
        tap((item) => {
          counts.bufferedBytes += sumBytes(item);
        }),
        deliverInOrder<PipelineItem>({
          weigh: (item) => (item.kind === 'batch' ? (item.rows?.rowCount ?? 0) : 0),
          batchWeight: batchRows,
          gatherMs: () => (stream === 'MINER_CHAIN' || isHeldBack() ? shortGatherMs : gatherMs),
          // A snapshot waits for the rows that it covers, and a reader for events that are in memory no more.
          isUrgent: (item) => item.kind === 'mark' || item.rows?.hasEvicted === true,
          flush$,
          deliver: inserts.deliver,
          onWaiting: (rows) => {
            bufferedRows = rows;
          },
          onDelivered: inserts.end,
          onFailure,
          onRecovery,
        }),
        tap((item) => {
          counts.bufferedBytes -= sumBytes(item);
          report({ storedThrough: item.position });
        }),
        finalize(() => {
          bufferedRows = 0;
          counts.bufferedBytes = 0;
          failingSinceMs = null;
          inserts.end();
          report({ isFailing: false });
        }),
      ),

    progress$,
    storedThrough: () => progress$.value.storedThrough,
    resumeAfter: (position) => report({ storedThrough: position }),
    flushNow: () => flush$.next(),
    isFailing: () => progress$.value.isFailing,
    whenIdle: inserts.whenIdle,
    status: () => ({
      ...counts,
      writtenRows: inserts.writtenRows,
      failingForMs: measureSince(failingSinceMs),
      storingForMs: measureSince(inserts.sinceMs()),
    }),
  };
}

/** The inserts of one batch after another; a retry sends only those that were not acknowledged. */
function createBatchInserts({ database, clock }: RowWriterOptions) {
  const writtenRows = new Map<string, number>();
  let attempt: { readonly sinceMs: number; pending: readonly RowInsert[] } | null = null;
  let inserting: Promise<unknown> = Promise.resolve();

  async function insert({ table, blocks, rowCount }: RowInsert) {
    const answer = database.insertBlocks(table, blocks);
    inserting = answer.catch(() => undefined);
    await answer;
    writtenRows.set(table, (writtenRows.get(table) ?? 0) + rowCount);
  }

  return {
    writtenRows,
    /** Start of the current batch's first attempt; null while none is being inserted. */
    sinceMs: () => attempt?.sinceMs ?? null,
    deliver: (items: readonly PipelineItem[]) => {
      attempt ??= { sinceMs: clock.monotonicMs(), pending: buildInserts(items.flatMap(listRows)) };
      const current = attempt;
      return from(current.pending).pipe(
        concatMap(insert),
        tap(() => {
          current.pending = current.pending.slice(1);
        }),
      );
    },
    /** Called when the batch is stored or its pipeline is cancelled. */
    end: () => {
      attempt = null;
    },
    whenIdle: async () => {
      await inserting;
    },
  };
}

function listRows(item: PipelineItem): EncodedRows[] {
  return item.kind === 'batch' && item.rows !== null ? [item.rows] : [];
}

function sumBytes(item: PipelineItem): number {
  return item.kind === 'batch' ? (item.rows?.byteLength ?? 0) : 0;
}
