import { matchesSubject, readHeaders } from './clientCommands.ts';
import { type ConsumerConfiguration, createPullConsumer, type PullConsumer } from './pullConsumers.ts';
import {
  createStoredStream,
  formatNanos,
  type StoredStream,
  type StreamConfiguration,
} from './storedStream.ts';

export interface ApiError {
  readonly code: number;
  readonly err_code: number;
  readonly description: string;
}

type PublishAnswer =
  | { readonly stream: string; readonly seq: number; readonly duplicate?: true }
  | { readonly error: ApiError; readonly stream: string; readonly seq: 0 };

/** Streams and consumers of a server, which outlive its connections. */
export type JetStreamStore = ReturnType<typeof createJetStreamStore>;

/** Versions whose differences the service meets. */
export const minorVersions = [10, 12] as const;
export type MinorVersion = (typeof minorVersions)[number];

export interface StoreOptions {
  /** Minor version of the nats-server that it imitates. */
  readonly minorVersion: MinorVersion;
  readonly nowMs: () => number;
  readonly wallMs: () => number;
  readonly schedule: (delayMs: number, run: () => void) => void;
}

export const consumerKey = (stream: string, consumer: string) => `${stream} ${consumer}`;

export function createJetStreamStore(options: StoreOptions) {
  const { minorVersion, nowMs, wallMs, schedule } = options;
  const streams = new Map<string, StoredStream>();
  const consumers = new Map<string, PullConsumer>();
  let lastNanos = 0n;

  /** Ascends even if the clock does not: two messages never have the same time. */
  function nowNanos(): bigint {
    const clockNanos = BigInt(Math.floor(wallMs() * 1_000)) * 1_000n;
    lastNanos = clockNanos > lastNanos ? clockNanos : lastNanos + 1n;
    return lastNanos;
  }

  function removeConsumer(key: string, isAnnounced: boolean): boolean {
    const consumer = consumers.get(key);
    consumer?.end(isAnnounced);
    return consumers.delete(key);
  }

  function deliverTo(stream: StoredStream) {
    for (const consumer of consumers.values())
      if (consumer.streamName === stream.configuration.name) consumer.deliver();
  }

  const store = {
    streams,
    consumers,
    /** Streams without space, by name, or the whole disk. */
    full: new Set() as 'disk' | ReadonlySet<string>,
    /** Deleted streams by name and creation time. An operator accepts their loss. */
    deleted: [] as string[],
    /** Whether each stream is on three servers. */
    isReplicated: false,
    /** Answers of leaders of replicated streams are as of this long ago. */
    behindMs: 0,
    /** Each process sees only its own messages of the lease, so that several hold it. */
    isLeaseForgotten: false,
    nowNanos,
    /** When the folder was exchanged; null while it is the own one. */
    exchangedAtMs: null as number | null,
    /** Serves another folder: an empty one, or one with streams of the same names. The returned function restores the first. */
    exchangeFolder: (isEmpty: boolean): (() => void) => {
      const own = [...streams.values()];
      const hold = (held: readonly StoredStream[]) => {
        streams.clear();
        for (const stream of held) streams.set(stream.configuration.name, stream);
      };
      hold(isEmpty ? [] : own.map(({ configuration }) => createStoredStream(configuration, nowNanos())));
      store.exchangedAtMs = nowMs();
      return () => {
        hold(own);
        store.exchangedAtMs = null;
      };
    },
    findBySubject: (subject: string): StoredStream | null => {
      for (const stream of streams.values())
        if (stream.configuration.subjects?.some((pattern) => matchesSubject(pattern, subject))) return stream;
      return null;
    },
    createStream: (configuration: StreamConfiguration): StoredStream => {
      const stream = createStoredStream(configuration, nowNanos());
      streams.set(configuration.name, stream);
      return stream;
    },
    deleteStream: (name: string): boolean => {
      // Newer servers have often removed the stream before they could announce it.
      const isAnnounced = minorVersion < 12;
      for (const [key, consumer] of consumers)
        if (consumer.streamName === name) removeConsumer(key, isAnnounced);
      const createdNanos = streams.get(name)?.createdNanos;
      if (createdNanos !== undefined) store.deleted.push(`${name}@${formatNanos(createdNanos)}`);
      return streams.delete(name);
    },
    /** Stores a message if the conditions in its headers hold. */
    publish: (
      stream: StoredStream,
      subject: string,
      headerBytes: Buffer | null,
      data: Buffer,
    ): PublishAnswer => {
      const { name } = stream.configuration;
      const headers = readHeaders(headerBytes);
      const atNanos = nowNanos();
      const refuse = (code: number, errorCode: number, description: string) =>
        ({ error: { code, err_code: errorCode, description }, stream: name, seq: 0 }) as const;
      const expectedStream = headers.get('Nats-Expected-Stream');
      if (expectedStream !== undefined && expectedStream !== name)
        return refuse(400, 10_060, 'expected stream does not match');
      const messageId = headers.get('Nats-Msg-Id');
      const duplicate = messageId === undefined ? null : stream.findDuplicate(messageId, atNanos);
      if (duplicate !== null) return { stream: name, seq: duplicate, duplicate: true };
      const expectedLast = headers.get('Nats-Expected-Last-Sequence');
      if (expectedLast !== undefined && Number(expectedLast) !== stream.lastSequence)
        return refuse(400, 10_071, `wrong last sequence: ${stream.lastSequence}`);
      const expectedOfSubject = headers.get('Nats-Expected-Last-Subject-Sequence');
      const isForgotten = store.isLeaseForgotten && name === 'MINER_LEASE';
      if (expectedOfSubject !== undefined && !isForgotten) {
        const last = stream.lastOf(subject)?.sequence ?? 0;
        if (Number(expectedOfSubject) !== last) return refuse(400, 10_071, `wrong last sequence: ${last}`);
      }
      const expectedId = headers.get('Nats-Expected-Last-Msg-Id');
      const lastId = readHeaders(stream.messages.get(stream.lastSequence)?.headers ?? null).get(
        'Nats-Msg-Id',
      );
      if (expectedId !== undefined && expectedId !== lastId)
        return refuse(400, 10_070, `wrong last msg ID: ${lastId ?? ''}`);
      if (store.full === 'disk' || store.full.has(name))
        return refuse(503, 10_077, 'insufficient storage resources available');
      const { sequence } = stream.add(subject, headerBytes, data, atNanos);
      if (messageId !== undefined) stream.noteId(messageId, sequence, atNanos);
      schedule(0, () => deliverTo(stream));
      return { stream: name, seq: sequence };
    },
    addConsumer: (stream: StoredStream, configuration: ConsumerConfiguration): PullConsumer => {
      const key = consumerKey(stream.configuration.name, configuration.name);
      const existing = consumers.get(key);
      if (existing !== undefined) return existing;
      const consumer = createPullConsumer({
        stream,
        configuration,
        createdNanos: nowNanos(),
        waitsForStart: minorVersion >= 12,
        nowMs,
        schedule,
        onInactive: () => removeConsumer(key, false),
      });
      consumers.set(key, consumer);
      return consumer;
    },
    removeConsumer,
  };
  return store;
}
