import type { StreamConfig } from '@nats-io/jetstream';
import type { Observable } from 'rxjs';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import type { ErrorKind } from '../../machines/failures.ts';

export type { StreamConfig } from '@nats-io/jetstream';

/** The server deletes a consumer of a delivery that has had no request for this long. */
export const consumerInactiveMs = 30_000;

/** A stream as one of its servers describes it. The leader may not have applied yet what another server has delivered. */
export interface StreamInfo {
  readonly config: StreamConfig;
  /** RFC 3339 with nanoseconds. Name and creation time together identify a stream. */
  readonly created: string;
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly messages: number;
  readonly bytes: number;
  /** RFC 3339 times of the first and the last message. */
  readonly firstAt: string;
  readonly lastAt: string;
  /** Missing sequences between the first and the last; empty unless they were asked for. */
  readonly deleted: readonly number[];
  /** Null on a server that belongs to no cluster. */
  readonly cluster: StreamCluster | null;
  /** Servers that hold the stream. One that is being moved is on more than its settings say. */
  readonly replicas: number;
  /** Bytes of the largest message, with its headers, that the stream and the server accept. */
  readonly messageBytesMax: number;
  /** The server's clock at the answer; null before NATS 2.10. */
  readonly serverTime: string | null;
}

interface StreamCluster {
  readonly name: string;
  /** Null while the stream has no leader: then any server answers, and may be far behind. */
  readonly leader: string | null;
  readonly peers: readonly StreamPeer[];
}

export interface StreamPeer {
  readonly name: string;
  readonly isOffline: boolean;
  readonly isCurrent: boolean;
}

/** Refusals that callers tell apart. After any other error the outcome is unknown. */
export type StreamFault =
  /** The stream does not exist. */
  | 'missing'
  /** The subject or its stream does not end where the publisher expects. */
  | 'otherEnd'
  /** The store is smaller than what its streams reserve. */
  | 'noRoom';

export class StreamRefusal extends Error {
  override readonly name = 'StreamRefusal';
  readonly fault: StreamFault;
  /** Only a missing stream means something to the machines. */
  readonly kind: ErrorKind | null;

  constructor(fault: StreamFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
    this.kind = fault === 'missing' ? fault : null;
  }
}

export function isRefusedAs(fault: StreamFault, error: unknown): boolean {
  return error instanceof StreamRefusal && error.fault === fault;
}

/** A change of the connection, or an error that the server reports. */
export type ConnectionChange =
  | { readonly type: 'disconnect' | 'reconnect'; readonly server: string }
  | { readonly type: 'error'; readonly error: Error };

/**
 * Messages of a stream in ascending order, in the pieces in which they arrive, until the first sign of trouble. They may jump or step back without
 * a word, and a delivery may stand still: the reader checks both.
 */
export interface Delivery extends AsyncIterable<readonly StreamMessage[]> {
  /** Why it ended; null while it runs. */
  reason(): string | null;
  /** Ends it, unless it has ended. */
  stop(reason: string): void;
}

export interface AppendOptions {
  /** Stores a single body once. Guards against a server that checks the expected end before it has applied an earlier message. */
  readonly id?: string;
  /** Longest wait for the acknowledgement. */
  readonly answerMs?: number;
}

/** Usage and limit of the account's store. */
export interface AccountStore {
  /** Every copy of every stream. */
  readonly storedBytes: number;
  readonly streams: number;
  /** Usage and limit of the fullest tier, with every copy. */
  readonly usedBytes: number;
  /** Null without a limit. */
  readonly limitBytes: number | null;
}

/** All requests of this service to NATS. */
export interface StreamPort {
  /** @throws StreamRefusal `missing` */
  info(stream: string, options?: { readonly withDeleted?: boolean }): Promise<StreamInfo>;
  /** @throws StreamRefusal `noRoom` */
  create(config: Partial<StreamConfig> & { readonly name: string }): Promise<void>;
  /** @throws StreamRefusal `noRoom` */
  update(stream: string, config: Partial<StreamConfig>): Promise<void>;
  /** Reads a message from the leader, never from a mirror; null if it is not there. */
  message(stream: string, sequence: number): Promise<StreamMessage | null>;
  /** Reads the newest message of a subject from the leader; null without one. */
  last(stream: string, subject: string): Promise<StreamMessage | null>;
  /** Sequence of the first message stored at or after a time; null if the stream stored no message since. */
  firstSince(stream: string, time: Date): Promise<number | null>;
  /** @param ahead most messages that are requested ahead of the reader. */
  deliver(stream: string, options: { readonly after: number; readonly ahead: number }): Promise<Delivery>;
  /**
   * Stores bodies of a subject in order, at the cost of one round trip, if the newest message of the subject is `after`; 0 stands for none. The
   * server stores all of them or only the first few, and a fulfilled promise means all.
   *
   * @returns sequence of the last one.
   * @throws StreamRefusal `otherEnd`. After any other error, some may be stored.
   */
  append(
    subject: string,
    after: number,
    bodies: readonly (string | Uint8Array)[],
    options?: AppendOptions,
  ): Promise<number>;
  /**
   * Stores a body, unless one with its ID was stored within the stream's window.
   *
   * @returns its sequence.
   */
  publish(subject: string, body: string, id?: string): Promise<number>;
  /** Sends a message that no stream keeps to its present subscribers, without an answer. Never throws. */
  notify(subject: string, body: string): void;
  /** Whether this user may publish to a subject. Stores nothing. */
  mayPublish(subject: string): Promise<boolean>;
  /** Creates a consumer and deletes it, as a proof of the right to read. Returns the server's time. */
  tryConsumer(stream: string): Promise<string>;
  /** Consumers of a stream, and how many messages each has not received yet. */
  consumers(stream: string): Promise<readonly { readonly name: string; readonly behind: number }[]>;
  account(): Promise<AccountStore>;
  /** The server that this process is connected to. */
  server(): { readonly address: string; readonly version: string; readonly isClustered: boolean };
  /** Completes when the connection is closed. */
  readonly changes$: Observable<ConnectionChange>;
  close(): Promise<void>;
}
