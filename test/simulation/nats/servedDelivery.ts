import type { StreamMessage } from '../../../actors/messages/streamMessage.ts';
import type { StoredStream } from './storedStream.ts';

export interface ServedDeliveryOptions {
  readonly stream: StoredStream;
  readonly after: number;
  /** Whether it waits for a start beyond the end. Otherwise it starts just after the end. */
  readonly waitsForStart: boolean;
  readonly nowMs: () => number;
  readonly push: (message: StreamMessage) => void;
  /** Called at an end that is announced. */
  readonly onEnded: () => void;
}

/** A pull expires after this. */
export const pullExpiresMs = 4_000;
/** A delivery ends that nobody has pulled for this long. */
const inactiveMs = 30_000;

/** The server's side of a delivery. */
export type ServedDelivery = ReturnType<typeof createServedDelivery>;

export function createServedDelivery(options: ServedDeliveryOptions) {
  const { stream, after, waitsForStart, nowMs, push, onEnded } = options;
  const wanted = Math.max(after + 1, stream.firstSequence);
  let next = waitsForStart ? wanted : Math.min(wanted, stream.lastSequence + 1);
  let requested = 0;
  let pulledMs = nowMs();
  let isEnded = false;
  let isStalled = false;

  /** Delivers requested messages that exist. It jumps over missing ones without a word. */
  function deliver() {
    while (!isEnded && !isStalled && requested > 0 && nowMs() - pulledMs <= pullExpiresMs) {
      const message = stream.next(next);
      if (message === null) return;
      next = message.seq + 1;
      requested--;
      push(message);
    }
  }

  return {
    stream,
    deliver,
    pull: (messages: number) => {
      requested = messages;
      pulledMs = nowMs();
      deliver();
    },
    /** Whether it reports the ends of pulls. */
    isReporting: () => !isEnded && nowMs() - pulledMs <= pullExpiresMs,
    hasEnded: () => isEnded || nowMs() - pulledMs > inactiveMs,
    behind: () => Math.max(0, stream.lastSequence - Math.max(next, stream.firstSequence) + 1),
    end: (isAnnounced: boolean) => {
      if (isAnnounced && !isEnded) onEnded();
      isEnded = true;
    },
    /** Delivers nothing any more, but still reports the ends of pulls. */
    stall: () => {
      isStalled = true;
    },
  };
}
