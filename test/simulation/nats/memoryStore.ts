import type { StreamConfig } from '../../../streams/nats/streamPort.ts';
import { StreamRefusal } from '../../../streams/nats/streamPort.ts';
import { createServedDelivery, type ServedDelivery, type ServedDeliveryOptions } from './servedDelivery.ts';
import { createStoredStream, formatNanos, type StoredStream } from './storedStream.ts';

/** Streams and deliveries of a server, which outlive its connections. */
export type MemoryStore = ReturnType<typeof createMemoryStore>;

/** Versions whose differences the service meets. */
export const minorVersions = [10, 12] as const;

export interface MemoryStoreOptions {
  /** Minor version of the nats-server that it imitates. */
  readonly minorVersion: (typeof minorVersions)[number];
  readonly nowMs: () => number;
  readonly wallMs: () => number;
  readonly schedule: (delayMs: number, run: () => void) => void;
}

/** What has to be true so that a message is stored. */
interface Conditions {
  /** A message with it is stored once. */
  readonly id?: string | undefined;
  /** Sequence of the newest message of the subject; 0 for a subject without messages. */
  readonly after?: number;
  /** Sequence of the newest message of the stream. */
  readonly behind?: number | null;
}

const nanosPerMs = 1_000_000n;

export function createMemoryStore({ minorVersion, nowMs, wallMs, schedule }: MemoryStoreOptions) {
  const streams = new Map<string, StoredStream>();
  const deliveries = new Set<ServedDelivery>();
  let lastNanos = 0n;

  /** Ascends even if the clock does not: two messages never have the same time. */
  function nowNanos(): bigint {
    const clockNanos = BigInt(Math.floor(wallMs() * 1_000)) * 1_000n;
    lastNanos = clockNanos > lastNanos ? clockNanos : lastNanos + 1n;
    return lastNanos;
  }

  function deliverTo(stream: StoredStream) {
    for (const delivery of deliveries) {
      if (delivery.hasEnded()) {
        delivery.end(false);
        deliveries.delete(delivery);
      } else if (delivery.stream === stream) delivery.deliver();
    }
  }

  const store = {
    minorVersion,
    streams,
    deliveries,
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
    /** Receives messages that no stream keeps. */
    onNotice: (_subject: string, _body: string): void => undefined,
    /** The leader of a stream knows the messages that were stored through this time. */
    knownNanos: (name: string): bigint => {
      if (store.isLeaseForgotten && name === 'MINER_LEASE') return 0n;
      return nowNanos() - (store.isReplicated ? BigInt(store.behindMs) * nanosPerMs : 0n);
    },
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
    find: (name: string): StoredStream => {
      const stream = streams.get(name);
      if (stream === undefined) throw new StreamRefusal('missing', 'stream not found');
      stream.expire(nowNanos());
      return stream;
    },
    findBySubject: (subject: string): StoredStream => {
      for (const stream of streams.values()) if (stream.takes(subject)) return stream;
      throw new Error('jetstream is not enabled');
    },
    createStream: (configuration: StoredStream['configuration']): StoredStream => {
      const stream = createStoredStream(configuration, nowNanos());
      streams.set(configuration.name, stream);
      return stream;
    },
    updateStream: (name: string, changed: Partial<StreamConfig>) => {
      const stream = store.find(name);
      stream.configuration = { ...stream.configuration, ...changed };
    },
    deleteStream: (name: string) => {
      const stream = store.find(name);
      // Newer servers have often removed the stream before they could announce it.
      for (const delivery of deliveries) if (delivery.stream === stream) delivery.end(minorVersion < 12);
      store.deleted.push(`${name}@${formatNanos(stream.createdNanos)}`);
      streams.delete(name);
    },
    /**
     * Stores a message if its conditions hold.
     *
     * @throws StreamRefusal `otherEnd`
     */
    publish: (
      stream: StoredStream,
      subject: string,
      data: Uint8Array,
      { id, after, behind }: Conditions = {},
    ): { readonly sequence: number; readonly isDuplicate: boolean } => {
      const { name, max_msg_size: size = 0 } = stream.configuration;
      const atNanos = nowNanos();
      const duplicate = id === undefined ? null : stream.findDuplicate(id, atNanos);
      if (duplicate !== null) return { sequence: duplicate, isDuplicate: true };
      const isForgotten = store.isLeaseForgotten && name === 'MINER_LEASE';
      const last = after === undefined || isForgotten ? after : (stream.lastOf(subject)?.seq ?? 0);
      if (last !== after) throw new StreamRefusal('otherEnd', `wrong last sequence: ${last}`);
      if (behind !== undefined && behind !== stream.lastSequence)
        throw new StreamRefusal('otherEnd', 'wrong last msg ID');
      if (size > 0 && data.length > size) throw new Error('message size exceeds maximum allowed');
      if (store.full === 'disk' || store.full.has(name))
        throw new Error('insufficient storage resources available');
      const { seq } = stream.add(subject, data, atNanos);
      if (id !== undefined) stream.noteId(id, seq, atNanos);
      schedule(0, () => deliverTo(stream));
      return { sequence: seq, isDuplicate: false };
    },
    startDelivery: (options: Pick<ServedDeliveryOptions, 'stream' | 'after' | 'push' | 'onEnded'>) => {
      const delivery = createServedDelivery({ ...options, waitsForStart: minorVersion >= 12, nowMs });
      deliveries.add(delivery);
      return delivery;
    },
    /** Ends every delivery without a word, as a restart does. */
    endDeliveries: () => {
      for (const delivery of deliveries) delivery.end(false);
    },
  };
  return store;
}
