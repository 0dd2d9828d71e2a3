import type { StoredStream, StoredStreamMessage } from './storedStream.ts';

export interface ConsumerConfiguration {
  readonly name: string;
  readonly deliver_policy?: string;
  readonly opt_start_seq?: number;
  readonly opt_start_time?: string;
  /** Nanoseconds. */
  readonly inactive_threshold?: number;
  readonly [setting: string]: unknown;
}

/** Receives the answers to a pull. */
export interface PullRecipient {
  /** Whether somebody still listens there. */
  isListening(): boolean;
  deliver(message: StoredStreamMessage, reply: string): void;
  /** A status line with headers. */
  status(line: string, headers?: Readonly<Record<string, number>>): void;
}

interface PullRequest {
  readonly batch: number;
  /** Limit of all its messages in bytes; 0 for none. */
  readonly maxBytes: number;
  readonly expiresMs: number;
  /** 0 for none. */
  readonly heartbeatMs: number;
}

interface WaitingPull {
  readonly recipient: PullRecipient;
  remaining: number;
  readonly isBoundInBytes: boolean;
  remainingBytes: number;
  readonly endsAtMs: number;
  readonly heartbeatMs: number;
  quietSinceMs: number;
  isOver: boolean;
}

export type PullConsumer = ReturnType<typeof createPullConsumer>;

interface PullConsumerOptions {
  readonly stream: StoredStream;
  readonly configuration: ConsumerConfiguration;
  readonly createdNanos: bigint;
  /** Whether it waits for a start beyond the end. Otherwise it starts just after the end. */
  readonly waitsForStart: boolean;
  readonly nowMs: () => number;
  readonly schedule: (delayMs: number, run: () => void) => void;
  /** Called when nobody has pulled within the threshold. */
  readonly onInactive: () => void;
}

const nanosPerMs = 1_000_000;

/** A pull consumer without acknowledgements, as the client's ordered consumers use. */
export function createPullConsumer(options: PullConsumerOptions) {
  const { stream, configuration, nowMs, schedule } = options;
  const name = stream.configuration.name;
  const waiting: WaitingPull[] = [];
  let next = findStart(options);
  let deliveredStream = next - 1;
  let deliveredConsumer = 0;
  let isEnded = false;
  let isStalled = false;
  let activeAtMs = nowMs();

  const countPending = () => Math.max(0, stream.lastSequence - Math.max(next, stream.firstSequence) + 1);

  function finish(pull: WaitingPull) {
    pull.isOver = true;
    waiting.splice(waiting.indexOf(pull), 1);
    activeAtMs = nowMs();
    watchInactivity();
  }

  function deliver() {
    while (!isEnded && !isStalled) {
      const pull = waiting[0];
      if (pull === undefined) return;
      if (!pull.recipient.isListening()) {
        finish(pull);
        continue;
      }
      const message = stream.next(next);
      if (message === null) return;
      const left = Math.max(0, stream.lastSequence - message.sequence);
      const place = `${message.sequence}.${deliveredConsumer + 1}.${message.atNanos}.${left}`;
      const reply = `$JS.ACK.${name}.${configuration.name}.1.${place}`;
      const bytes = countBytes(message, reply);
      if (pull.isBoundInBytes && bytes > pull.remainingBytes) {
        finish(pull);
        pull.recipient.status('409 Message Size Exceeds MaxBytes', describeRest(pull));
        continue;
      }
      next = message.sequence + 1;
      deliveredStream = message.sequence;
      deliveredConsumer++;
      pull.remainingBytes -= bytes;
      pull.recipient.deliver(message, reply);
      pull.quietSinceMs = nowMs();
      if (--pull.remaining === 0 || (pull.isBoundInBytes && pull.remainingBytes === 0)) finish(pull);
    }
  }

  function beat(pull: WaitingPull) {
    if (pull.heartbeatMs === 0) return;
    const dueInMs = pull.quietSinceMs + pull.heartbeatMs - nowMs();
    schedule(Math.max(dueInMs, 1), () => {
      if (pull.isOver || isEnded) return;
      if (pull.quietSinceMs + pull.heartbeatMs <= nowMs()) {
        pull.quietSinceMs = nowMs();
        pull.recipient.status('100 Idle Heartbeat', {
          'Nats-Last-Consumer': deliveredConsumer,
          'Nats-Last-Stream': deliveredStream,
        });
      }
      beat(pull);
    });
  }

  function watchInactivity() {
    const thresholdMs = (configuration.inactive_threshold ?? 0) / nanosPerMs;
    if (thresholdMs === 0 || waiting.length > 0) return;
    const sinceMs = activeAtMs;
    schedule(thresholdMs, () => {
      if (!isEnded && waiting.length === 0 && activeAtMs === sinceMs) options.onInactive();
    });
  }

  watchInactivity();
  return {
    configuration,
    createdNanos: options.createdNanos,
    streamName: name,
    pull: ({ batch, maxBytes, expiresMs, heartbeatMs }: PullRequest, recipient: PullRecipient) => {
      activeAtMs = nowMs();
      const endsAtMs = nowMs() + expiresMs;
      const pull = {
        recipient,
        remaining: batch,
        isBoundInBytes: maxBytes > 0,
        remainingBytes: maxBytes,
        endsAtMs,
        heartbeatMs,
        quietSinceMs: nowMs(),
        isOver: false,
      };
      waiting.push(pull);
      deliver();
      beat(pull);
      schedule(expiresMs, () => {
        if (pull.isOver || isEnded) return;
        finish(pull);
        pull.recipient.status('408 Request Timeout', describeRest(pull));
      });
    },
    /** Delivers requested messages that exist. */
    deliver,
    /** Messages that are not delivered yet. */
    pending: countPending,
    info: () => ({
      delivered: { consumer_seq: deliveredConsumer, stream_seq: deliveredStream },
      waiting: waiting.length,
    }),
    /** Ends the consumer, and tells waiting pulls if it is announced. */
    end: (isAnnounced: boolean) => {
      if (isEnded) return;
      isEnded = true;
      for (const pull of waiting.splice(0)) if (isAnnounced) pull.recipient.status('409 Consumer Deleted');
    },
    /** Delivers nothing any more, but still sends heartbeats. */
    stall: () => {
      isStalled = true;
    },
  };
}

/** Bytes of a message that count for a pull. */
const countBytes = ({ subject, headers, data }: StoredStreamMessage, reply: string): number =>
  subject.length + reply.length + (headers?.length ?? 0) + data.length;

/** Headers with the undelivered rest of a pull. */
const describeRest = ({ remaining, isBoundInBytes, remainingBytes }: WaitingPull) => ({
  'Nats-Pending-Messages': remaining,
  'Nats-Pending-Bytes': isBoundInBytes ? remainingBytes : 0,
});

/** First sequence of a consumer. */
function findStart({ stream, configuration, waitsForStart }: PullConsumerOptions): number {
  const { firstSequence, lastSequence } = stream;
  switch (configuration.deliver_policy) {
    case 'by_start_sequence': {
      const wanted = Math.max(configuration.opt_start_seq ?? 1, firstSequence);
      return waitsForStart ? wanted : Math.min(wanted, lastSequence + 1);
    }
    case 'by_start_time': {
      const startNanos = BigInt(Date.parse(configuration.opt_start_time ?? '')) * 1_000_000n;
      for (const { sequence, atNanos } of stream.messages.values())
        if (atNanos >= startNanos) return sequence;
      return lastSequence + 1;
    }
    case 'new':
      return lastSequence + 1;
    default:
      return firstSequence;
  }
}
