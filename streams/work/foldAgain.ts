import { Registry } from 'prom-client';
import { requireValue } from '../../machines/requireValue.ts';
import { createRecentReadings } from '../../storage/reading/recentReadings.ts';
import { createOldestReadingMs, readReadingsTtlDays } from '../../storage/rows/readingsTtl.ts';
import { createStreamFold, type StreamActors, streamDefinitions } from '../folds/streamDefinitions.ts';
import { type FilledRun, type FillRunOptions, fillRun } from '../follower/fillRun.ts';
import { createMessageSource } from '../jetstream/source/messageSource.ts';
import { createMessageCounts } from '../pipeline/messageCounts.ts';

interface FoldAgainOptions extends Omit<FillRunOptions, 'fold' | 'source'> {
  /** Actors of their own, whose views nobody sees. */
  readonly actors: StreamActors;
}

/** Folds a stream again, through a message, as the service would, into a run that nobody reads yet. */
export async function foldAgain({ actors, ...options }: FoldAgainOptions): Promise<FilledRun> {
  const { stream, database, clock, logger } = options;
  const oldestMs = createOldestReadingMs(await readReadingsTtlDays(database), clock.nowMs)();
  const registry = new Registry();
  const fold = createStreamFold(stream, actors, {
    recent: createRecentReadings({ storedThrough: () => Number.POSITIVE_INFINITY }),
    counts: createMessageCounts(registry),
    logger,
    registry,
  });
  const readStored = streamDefinitions[stream].createStoredReader?.({
    ...options,
    oldestReadingMs: () => oldestMs,
  });
  return fillRun({
    ...options,
    fold: requireValue(fold, `the fold of ${stream}`),
    source: createMessageSource({ ...options, readStored }),
  });
}
