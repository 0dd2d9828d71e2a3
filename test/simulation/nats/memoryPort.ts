import type { Observable } from 'rxjs';
import type { StreamMessage } from '../../../actors/messages/streamMessage.ts';
import type {
  ConnectionChange,
  StreamConfig,
  StreamInfo,
  StreamPort,
} from '../../../streams/nats/streamPort.ts';
import { StreamRefusal } from '../../../streams/nats/streamPort.ts';
import type { MemoryStore } from './memoryStore.ts';
import { pullExpiresMs, type ServedDelivery } from './servedDelivery.ts';
import { formatNanos, type StoredStream } from './storedStream.ts';

/** The way of requests and answers between a client and the server. */
export interface Wire {
  /** Sends a request, which runs at the server. Rejects if no answer has arrived in time. */
  ask<Answer>(what: string, run: () => Answer, answerMs?: number): Promise<Answer>;
  /** Sends a request without an answer. */
  send(what: string, run: () => void): void;
  /** Runs something at the client, after everything that the server has sent before. */
  tell(run: () => void): void;
  readonly changes$: Observable<ConnectionChange>;
  close(): void;
}

/** Below the default, so that moderately large logs do not fit into a message. */
export const payloadBytesMax = 64 * 1024;
/** A delivery ends after this many checks in a row that have heard nothing; every other one renews the pull. */
const silentChecksMax = 3;

const toBytes = (body: string | Uint8Array) => (typeof body === 'string' ? Buffer.from(body) : body);

/** Implements the port in memory. */
export function createMemoryPort(store: MemoryStore, wire: Wire): StreamPort {
  const { find } = store;
  /** A message that the leader knows already. */
  const known = (message: StreamMessage | null | undefined, nanos: bigint) =>
    message != null && message.timestampNanos <= nanos ? message : null;

  function append(
    subject: string,
    after: number,
    bodies: readonly (string | Uint8Array)[],
    { id, answerMs }: NonNullable<Parameters<StreamPort['append']>[3]> = {},
  ): Promise<number> {
    const last = bodies.length - 1;
    /** Sequences of stored bodies by index. */
    const stored = new Map<number, number>();
    const storeBody = (index: number) => {
      const conditions = index === 0 ? { after, id } : { behind: stored.get(index - 1) ?? null };
      const data = toBytes(bodies[index] as string);
      const stream = store.findBySubject(subject);
      const { sequence, isDuplicate } = store.publish(stream, subject, data, conditions);
      if (isDuplicate) throw new StreamRefusal('otherEnd', `${subject} has a message ${id} already`);
      stored.set(index, sequence);
      return sequence;
    };
    for (let index = 0; index < last; index++)
      wire.send(`append ${subject}`, () => {
        try {
          storeBody(index);
        } catch {
          // The next one does not follow it.
        }
      });
    return wire.ask(`append ${subject}`, () => storeBody(last), answerMs);
  }

  async function deliver(stream: string, { after, ahead }: { after: number; ahead: number }) {
    const received: StreamMessage[] = [];
    let outstanding = 0;
    let reason: string | null = null;
    let wake: () => void = () => undefined;
    let served: ServedDelivery | null = null;
    const stop = (why: string) => {
      if (reason !== null) return;
      reason = why;
      clearInterval(checks);
      lost.unsubscribe();
      wire.send(`stop ${stream}`, () => served?.end(false));
      wake();
    };
    const receive = (message: StreamMessage) => {
      if (reason !== null) return;
      outstanding--;
      received.push(message);
      wake();
    };
    // The client asks for the stream first.
    await wire.ask(`info ${stream}`, () => find(stream));
    served = await wire.ask(`deliver ${stream}`, () =>
      store.startDelivery({
        stream: find(stream),
        after,
        push: (message) => wire.tell(() => receive(message)),
        onEnded: () => wire.tell(() => stop('consumer: Consumer Deleted')),
      }),
    );
    const pull = () => {
      outstanding = ahead - received.length;
      wire.send(`pull ${stream}`, () => served?.pull(outstanding));
    };
    let silentChecks = 0;
    let isDue = false;
    const checks = setInterval(() => {
      silentChecks = served?.isReporting() ? 0 : silentChecks + 1;
      if (silentChecks === silentChecksMax) return stop('consumer: silent');
      if (isDue) pull();
      isDue = !isDue;
    }, pullExpiresMs / 2);
    const lost = wire.changes$.subscribe(({ type }) => stop(`connection: ${type}`));
    pull();
    return {
      reason: () => reason,
      stop,
      async *[Symbol.asyncIterator]() {
        for (;;) {
          const piece = received.splice(0);
          if (piece.length > 0) {
            yield piece;
            if (reason === null && outstanding + received.length <= ahead / 2) pull();
          } else if (reason !== null) return;
          else
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
        }
      },
    };
  }

  return {
    info: (stream, { withDeleted = false } = {}) =>
      wire.ask(`info ${stream}`, () => describeStream(store, find(stream), withDeleted)),
    create: (config) =>
      wire.ask(`create ${config.name}`, () => {
        if (!store.streams.has(config.name)) store.createStream(config);
      }),
    update: (stream, config) => wire.ask(`update ${stream}`, () => store.updateStream(stream, config)),
    message: (stream, sequence) =>
      wire.ask(`message ${stream}`, () =>
        known(find(stream).messages.get(sequence), store.knownNanos(stream)),
      ),
    last: (stream, subject) =>
      wire.ask(`last ${stream}`, () => find(stream).lastOf(subject, store.knownNanos(stream))),
    firstSince: (stream, time) =>
      wire.ask(`first ${stream}`, () => find(stream).firstSince(BigInt(time.getTime()) * 1_000_000n)),
    deliver,
    append,
    publish: (subject, body, id) =>
      wire.ask(
        `publish ${subject}`,
        () => store.publish(store.findBySubject(subject), subject, toBytes(body), { id }).sequence,
      ),
    notify: (subject, body) => wire.send(`notify ${subject}`, () => store.onNotice(subject, body)),
    mayPublish: (subject) => wire.ask(`try ${subject}`, () => store.findBySubject(subject) !== null),
    tryConsumer: (stream) =>
      wire.ask(`try ${stream}`, () => {
        find(stream);
        return formatNanos(store.nowNanos());
      }),
    consumers: (stream) =>
      wire.ask(`consumers ${stream}`, () => {
        const read = find(stream);
        const running = [...store.deliveries].filter((one) => one.stream === read && !one.hasEnded());
        return running.map((one, index) => ({ name: `${index}`, behind: one.behind() }));
      }),
    account: () =>
      wire.ask('account', () => ({
        storedBytes: 0,
        streams: store.streams.size,
        usedBytes: 0,
        limitBytes: null,
      })),
    server: () => ({
      address: 'memory',
      version: `2.${store.minorVersion}.0`,
      isClustered: store.isReplicated,
    }),
    changes$: wire.changes$,
    close: async () => wire.close(),
  };
}

function describeStream(store: MemoryStore, stream: StoredStream, withDeleted: boolean): StreamInfo {
  const { configuration, createdNanos, firstSequence, messages, lastNanos } = stream;
  const lastSequence = stream.lastThrough(store.knownNanos(configuration.name));
  const { max_msg_size: size = 0 } = configuration;
  return {
    // The clients of a test give what they need.
    config: { num_replicas: store.isReplicated ? 3 : 1, ...configuration } as StreamConfig,
    created: formatNanos(createdNanos),
    firstSequence: lastSequence === 0 ? 0 : firstSequence,
    lastSequence,
    messages: messages.size,
    bytes: 0,
    firstAt: formatNanos(messages.get(firstSequence)?.timestampNanos ?? 0n),
    lastAt: formatNanos(lastNanos),
    deleted: withDeleted ? stream.listDeleted() : [],
    cluster: store.isReplicated
      ? {
          name: 'memory',
          leader: 'a',
          peers: ['b', 'c'].map((name) => ({ name, isOffline: false, isCurrent: true })),
        }
      : null,
    replicas: store.isReplicated ? 3 : 1,
    messageBytesMax: size > 0 ? Math.min(size, payloadBytesMax) : payloadBytesMax,
    serverTime: formatNanos(store.nowNanos()),
  };
}
