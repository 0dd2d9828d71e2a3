import { lastValueFrom, map } from 'rxjs';
import type { DecodeCounter } from '../../actors/wheel/decodeCounter.ts';
import { createRangeFold, type FoldedRange, type RangeFoldOptions } from '../../actors/wheel/rangeFold.ts';
import { createRowEncoder, type EncodedRows, joinEncodedRows } from '../../storage/rowInserts.ts';
import { collectRows } from '../counter/collectedRows.ts';
import type { MessageBatch } from '../jetstream/messageBatch.ts';
import type { MessageSource } from '../jetstream/messageSource.ts';
import { StreamDiverged } from '../jetstream/sourceVerification.ts';
import type { StreamPosition } from '../jetstream/streamPosition.ts';
import { alwaysOpen } from '../operators/gate.ts';
import type { MessageRange } from './messageRange.ts';

/**
 * Messages before a range that are folded with it. A gateway that delivers again what it delivered a moment ago does so within them, mostly, and
 * is then recognized without the state before the range.
 */
const leadInMessages = 1_000;

/** A range with its rows, which are those of its messages once it is joined. Plain data, for another thread. */
export interface RangeResult {
  readonly folded: FoldedRange;
  readonly rows: EncodedRows;
  /** The place after the last message of the range. */
  readonly place: StreamPosition;
}

export interface FoldRangeOptions extends Pick<RangeFoldOptions, 'genesisMs' | 'publicInstallationId'> {
  /** The messages through a sequence. */
  readonly createSource: (through: number) => Pick<MessageSource, 'batchesAfter'>;
  readonly decode: DecodeCounter;
  /** The only subject that is folded; null for all. */
  readonly subject: string | null;
}

/**
 * Folds a range of `MINER_COUNTER` without the state before it.
 *
 * @returns null where the stream does not hold all of its messages, or is not the one that it was.
 */
export async function foldRange(range: MessageRange, options: FoldRangeOptions): Promise<RangeResult | null> {
  const { fromSequence, throughSequence } = range;
  const { createSource, subject } = options;
  const fold = createRangeFold({ ...options, fromSequence });
  const encode = createRowEncoder();
  const pieces: EncodedRows[] = [];
  let isMissing = false;

  function receive({ messages, position, place }: MessageBatch): () => StreamPosition {
    if (messages.length === 0 && position >= fromSequence) isMissing = true;
    const rows = collectRows();
    for (const message of messages) {
      if (subject !== null && message.subject !== subject) continue;
      const output = fold.receive(message);
      if (output !== null) rows.add(output);
    }
    if (position >= fromSequence) pieces.push(encode({ ...rows, throughPosition: position }));
    return place;
  }

  const position = Math.max(0, fromSequence - 1 - leadInMessages);
  const batches$ = createSource(throughSequence).batchesAfter(
    { streamCreated: null, position, digest: null },
    alwaysOpen,
  );
  try {
    const createPlace = await lastValueFrom(batches$.pipe(map(receive)), { defaultValue: null });
    if (isMissing || createPlace === null || pieces.length === 0) return null;
    return { folded: fold.complete(), rows: joinEncodedRows(pieces), place: createPlace() };
  } catch (error) {
    if (error instanceof StreamDiverged) return null;
    throw error;
  }
}
