import { concatMap, defer, finalize, from, map, NEVER, type Observable, of, tap } from 'rxjs';
import type { JoinedRange } from '../../actors/wheel/counterActors.ts';
import type { FoldedRange } from '../../actors/wheel/rangeFold.ts';
import type { EncodedRows } from '../../storage/rowInserts.ts';
import type { ActorOwner } from '../actorOwner.ts';
import type { MessageBatch } from '../jetstream/messageBatch.ts';
import type { MessageSource } from '../jetstream/messageSource.ts';
import { createSourceProgress } from '../jetstream/sourceProgress.ts';
import type { StreamPosition } from '../jetstream/streamPosition.ts';
import type { Gate } from '../operators/gate.ts';
import type { RangeResult } from './foldRange.ts';
import type { MessageRange } from './messageRange.ts';

/** A range in place of its messages: it continues the state of the fold that it is given to. */
export interface RangeBatch extends MessageBatch {
  readonly join: () => JoinedRange;
  /** Those that the range has made by itself. */
  readonly rows: EncodedRows;
}

export function isRangeBatch(batch: MessageBatch): batch is RangeBatch {
  return 'join' in batch;
}

export interface RangedSourceOptions {
  /** The ranges behind a sequence, one after another. */
  readonly cut: (after: number) => readonly MessageRange[];
  readonly fold: (range: MessageRange) => Promise<RangeResult | null>;
  /** Ranges that are begun before those in front of them have been emitted; what is waiting is in memory. */
  readonly ahead: number;
  /** Whether the state of the fold, as it is now, is continued by a range; null where it is not. */
  readonly join: (range: FoldedRange) => (() => JoinedRange) | null;
  /** The messages through a sequence, one by one. */
  readonly createSource: (through: number) => MessageSource;
  /** A range is emitted: as it was folded, or as messages. */
  readonly onRange: (isJoined: boolean) => void;
}

/**
 * A stream whose ranges are folded elsewhere, several at the same time, and emitted in order. What is found to be folded from another state than the one
 * that it follows is emitted as messages.
 */
export function createRangedSource(options: RangedSourceOptions): MessageSource {
  const { cut, fold, ahead, join, createSource, onRange } = options;
  const progress = createSourceProgress();

  function batchesAfter(place: StreamPosition, gate: Gate, owner?: ActorOwner): Observable<MessageBatch> {
    return defer(() => {
      progress.restartAfter(place.position);
      const ending = new AbortController();
      const ranges = cut(place.position);
      const results = beginAhead(ranges, ahead, fold);
      let reached = place;

      /** Called when everything before it has been folded. */
      function emit(result: RangeResult | null, { throughSequence }: MessageRange): Observable<MessageBatch> {
        const batch = result === null ? null : continueState(result, reached, join);
        onRange(batch !== null);
        if (batch === null) return createSource(throughSequence).batchesAfter(reached, gate, owner);
        gate.enter(batch.weight);
        return of(batch);
      }

      const awaitGate = (result: RangeResult | null) =>
        from(gate.opened(ending.signal)).pipe(map(() => result));
      return from(ranges).pipe(
        concatMap((range, index) =>
          from(results(index)).pipe(
            concatMap(awaitGate),
            concatMap((result) => emit(result, range)),
            tap({
              next: (batch) => {
                reached = batch.place();
                progress.advance(batch.position);
              },
              complete: () => progress.skipTo(range.throughSequence),
            }),
          ),
        ),
        finalize(() => ending.abort()),
      );
    });
  }

  return { batchesAfter, ends$: NEVER, status: () => ({ ...progress.counts, state: 'catchingUp' }) };
}

function continueState(
  { folded, rows, place }: RangeResult,
  reached: StreamPosition,
  join: RangedSourceOptions['join'],
): RangeBatch | null {
  // The stream was created again meanwhile: who reads it one by one finds out what that means.
  if (reached.streamCreated !== null && reached.streamCreated !== place.streamCreated) return null;
  const joined = join(folded);
  if (joined === null) return null;
  return {
    messages: [],
    stored: [],
    streamCreated: place.streamCreated ?? '',
    position: place.position,
    weight: rows.byteLength,
    place: () => place,
    join: joined,
    rows,
  };
}

/** The results of items by their index, in whose order they are asked for: the next ones are begun by then. */
function beginAhead<Item, Result>(
  items: readonly Item[],
  ahead: number,
  begin: (item: Item) => Promise<Result>,
): (index: number) => Promise<Result> {
  const begun = new Map<number, Promise<Result>>();
  let next = 0;
  return (index) => {
    for (; next < items.length && next <= index + ahead; next++) {
      const result = begin(items[next] as Item);
      result.catch(() => undefined); // Whoever asks for it gets the error.
      begun.set(next, result);
    }
    const result = begun.get(index) as Promise<Result>;
    begun.delete(index);
    return result;
  };
}
