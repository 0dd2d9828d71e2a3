import { firstValueFrom } from 'rxjs';
import type { Database } from '../../storage/database.ts';
import type { Tables } from '../../storage/tables.ts';
import type { MessageSource } from '../jetstream/source/messageSource.ts';
import { runAlone } from '../operators/runAlone.ts';
import { whenAborted } from '../operators/whenAborted.ts';
import { createRowWriter } from '../pipeline/rowWriter.ts';
import { createStreamFollower, type StreamFollower, type StreamFollowerOptions } from './streamFollower.ts';

/** A stopped fold ends within this time. */
export const foldStopMs = 7_000;
/** The engine creates, merges and removes a part for each batch, which costs as much as the rows of a small batch. */
const batchRows = 20_000;
/** Writing the state of 50,000 installations takes a second. A fold that is killed repeats at most a minute. */
const snapshotPolicy = { intervalMs: 60_000, messages: 2_000_000 };

interface FoldIntoOptions
  extends Pick<
    StreamFollowerOptions,
    'stream' | 'fold' | 'snapshots' | 'jsm' | 'verifier' | 'onBatch' | 'clock' | 'logger'
  > {
  readonly source: MessageSource;
  readonly database: Database;
  readonly tables: Tables;
  /** Whether messages of the stream make rows. */
  readonly hasRows: boolean;
  /** Removes the rows of messages above a position from the tables. */
  readonly removeRowsAbove: (position: number) => Promise<unknown>;
  readonly signal: AbortSignal;
}

/**
 * Folds a stream into tables that nobody reads yet, until its source ends or the signal aborts, and saves the state there. Continues from the newest
 * snapshot in them, if there is one.
 */
export async function foldInto(options: FoldIntoOptions): Promise<ReturnType<StreamFollower['status']>> {
  const { tables, hasRows, removeRowsAbove, signal } = options;
  const follower = createStreamFollower({
    ...options,
    sinks: {
      writer: hasRows
        ? createRowWriter({ ...options, tables: () => tables, run: () => '', batchRows })
        : null,
      rejections: null,
      // A killed attempt has left rows above its last snapshot.
      correct: async ({ position, choice, fault }) => {
        await removeRowsAbove(position);
        const hasDiverged = fault === 'diverged' || choice.disagrees;
        if (hasDiverged || fault !== null) await options.snapshots.deleteAbove(options.stream, position);
        return hasDiverged;
      },
    },
    // A stream that is recreated meanwhile ends the fold.
    checkStreams: async () => undefined,
    policy: snapshotPolicy,
  });
  const running = runAlone(follower.member);
  void firstValueFrom(whenAborted(signal)).then(() => running.stop({ graceMs: foldStopMs }));
  await running.ended;
  return follower.status();
}
