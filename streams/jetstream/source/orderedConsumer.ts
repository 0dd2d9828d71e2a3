import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StreamMessage } from '../../../actors/messages/streamMessage.ts';
import type { Doubts } from '../proofs/doubts.ts';
import { digestMessage, type StreamPosition } from '../proofs/streamPosition.ts';
import type { StreamReaderOptions } from '../streamReaderOptions.ts';
import { watchConsumption } from './consumptionWatch.ts';
import {
  type BatchRecipient,
  batchBytesMax,
  batchMessagesMax,
  messageOverheadBytes,
} from './messageBatch.ts';
import type { MissingMessages } from './missingMessages.ts';
import type { SourceProgress } from './sourceProgress.ts';

interface OrderedConsumerOptions extends StreamReaderOptions {
  /** The last sequence that is requested. */
  readonly through: number;
  readonly pulledMessages: number;
  readonly progress: SourceProgress;
  readonly recipient: BatchRecipient;
  readonly missing: MissingMessages;
  readonly doubts: Doubts;
  /** Bounds how long an answer of the server is waited for. */
  readonly answerSoon: <Answer>(asked: Promise<Answer>) => Promise<Answer>;
  /** The stream ended with this sequence at this time (`Clock.bootMs`). */
  readonly onEndSeen: (lastSequence: number, atMs: number) => void;
  /** Everything up to the last known end of the stream is emitted. */
  readonly onCaughtUp: () => void;
  /** Called however it ends, with the stream position of the last emitted message. */
  readonly onEnded: (reached: StreamPosition, isCut: boolean) => void;
}

/** Runs one ordered consumer after a stream position until something interrupts it, or through the last requested message. */
export async function runOrderedConsumer(
  from: StreamPosition,
  options: OrderedConsumerOptions,
): Promise<void> {
  const { stream, logger, through, pulledMessages, progress, recipient, missing, answerSoon } = options;
  const { gate, signal } = recipient;
  // Skipping the messages that have left the stream has set its creation time.
  const streamCreated = from.streamCreated ?? '';
  const asked = options.jetStream.deliver(stream, { after: from.position, ahead: pulledMessages });
  const delivery = await answerSoon(asked).catch((error: unknown) => {
    asked.then(
      (late) => late.stop('it began too late'),
      () => undefined,
    );
    throw error;
  });
  let pending: StreamMessage[] = [];
  let pendingBytes = 0;
  let expected = from.position + 1;
  let isAtGap = false;
  /** No message is taken while the removed rest of the stream is being skipped. */
  let skipping: Promise<void> | null = null;
  /** The stream position of the last emitted batch. */
  let reached = () => from;
  const reach = (streamPosition: StreamPosition) => {
    reached = () => streamPosition;
  };
  const watch = watchConsumption({
    ...options,
    delivery,
    signal,
    isHeldBack: () => isAtGap || !gate.isOpen,
    reached: () => reached(),
    onVerified: progress.verifiedAt,
    onUnknown: progress.forgetEnd,
    skipRest: async (rest, how) => {
      // Otherwise a message has arrived after all.
      if (isAtGap || expected !== reached().position + 1) return;
      const last = Math.min(rest, through);
      skipping = missing.skipRemoved(reached(), last, how).then(reach);
      await skipping;
      expected = last + 1;
      skipping = null;
      if (last === through) delivery.stop('the last requested message was deleted');
    },
  });
  // The verification may have found the end already.
  if (progress.isAtEnd()) options.onCaughtUp();

  const emitPending = () => {
    const newest = pending.at(-1);
    if (newest === undefined || signal.aborted) return;
    const [messages, weight] = [pending, pendingBytes + pending.length * messageOverheadBytes];
    pending = [];
    pendingBytes = 0;
    const streamPosition = () => createStreamPosition(streamCreated, newest);
    reached = streamPosition;
    recipient.emit({ messages, stored: [], streamCreated, position: newest.seq, weight, streamPosition });
  };

  try {
    for await (const piece of delivery) {
      for (const message of piece) {
        if (skipping !== null) await skipping;
        if (signal.aborted) return;
        const { seq, data } = message;
        if (seq > through) {
          emitPending();
          progress.skipTo(through);
          reach({ ...reached(), position: through });
          return;
        }
        if (seq !== expected && !missing.passDeleted(expected, seq)) {
          emitPending();
          isAtGap = true;
          reach(await missing.skipGap(reached(), expected, seq, delivery));
          isAtGap = false;
          if (signal.aborted) return;
        }
        if (pending.length >= batchMessagesMax || pendingBytes + data.length > batchBytesMax) {
          emitPending();
          await nextTurn();
          if (signal.aborted) return;
        }
        expected = seq + 1;
        pending.push(message);
        pendingBytes += data.length;
        if (!gate.isOpen) {
          emitPending();
          await gate.opened(signal);
        }
      }
      emitPending();
      if (expected > through) break;
    }
    if (skipping !== null) await skipping;
    watch.throwFailure();
  } finally {
    pending = []; // Not emitted: the next consumer reads them again.
    options.onEnded(reached(), delivery.reason()?.startsWith('connection: ') ?? false);
    watch.stop();
    delivery.stop('the consumer ended');
    if (!signal.aborted)
      logger.info(
        { stream, position: progress.counts.position, reason: delivery.reason() },
        'consumption is restarted',
      );
  }
}

function createStreamPosition(streamCreated: string | null, message: StreamMessage): StreamPosition {
  const digest = digestMessage(message.subject, message.timestampNanos, message.data);
  return { streamCreated, position: message.seq, digest };
}
