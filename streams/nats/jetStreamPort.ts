import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  AckPolicy,
  type ConsumerConfig,
  DeliverPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type StreamInfo as JetStreamInfo,
  jetstream,
  jetstreamManager,
  PubHeaders,
  type StoredMsg,
} from '@nats-io/jetstream';
import {
  type ConnectionOptions,
  connect,
  headers,
  type NatsConnection,
  nanos,
  nuid,
  type QueuedIterator,
  type Status,
} from '@nats-io/transport-node';
import { filter, from, Observable, Subscription } from 'rxjs';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import { parseNanos } from './nanos.ts';
import { measureAccount } from './natsStore.ts';
import { pullDelivery } from './pullDelivery.ts';
import {
  type AppendOptions,
  type ConnectionChange,
  consumerInactiveMs,
  isRefusedAs,
  type StreamFault,
  type StreamInfo,
  type StreamPort,
  StreamRefusal,
} from './streamPort.ts';

/** JetStream's codes of the refusals. A message may not follow the ID or the sequence that it names. */
const faults: Readonly<Record<number, StreamFault>> = {
  [JetStreamApiCodes.StreamNotFound]: 'missing',
  10047: 'noRoom',
  10070: 'otherEnd',
  10071: 'otherEnd',
};
/** JetStream's codes for limits of an account: on consumers, on streams, and on streams without a size. */
const accountLimits: ReadonlySet<number> = new Set([10026, 10027, 10113]);
const acknowledgementMs = 5_000;
/** No stream ends there, so no server stores a message that expects it. */
const impossibleSequence = Number.MAX_SAFE_INTEGER;

/** Connects by one attempt. Answers of JetStream are waited for `answerMs`. */
export async function openJetStream(options: ConnectionOptions, answerMs?: number): Promise<StreamPort> {
  return createJetStreamPort(await connect(options), answerMs);
}

/** Implements the port by the client of NATS. */
export async function createJetStreamPort(
  connection: NatsConnection,
  answerMs = acknowledgementMs,
): Promise<StreamPort> {
  const js = jetstream(connection, { timeout: answerMs });
  const jsm = await jetstreamManager(connection, { checkAPI: false, timeout: answerMs });

  const changes$ = new Observable<ConnectionChange>((subscriber) => {
    // The iterator can be stopped, but its type does not show it.
    const statuses = connection.status() as QueuedIterator<Status>;
    const watched = from(statuses).pipe(filter(isChange)).subscribe(subscriber);
    return () => {
      watched.unsubscribe();
      statuses.stop();
    };
  });

  /** Creates a consumer. The server deletes it once nothing has pulled for a while. */
  const createConsumer = (stream: string, start: Partial<ConsumerConfig>) =>
    jsm.consumers.add(stream, {
      ...start,
      name: nuid.next(), // This service may create only consumers with a name.
      ack_policy: AckPolicy.None,
      inactive_threshold: nanos(consumerInactiveMs),
      num_replicas: 1,
      mem_storage: true,
    });

  const deleteConsumer = (stream: string, name: string) => {
    jsm.consumers.delete(stream, name).catch(() => undefined); // Deleted already, or the server does it.
  };

  /** Its consumer ends with the delivery. */
  async function deliver(stream: string, { after, ahead }: { after: number; ahead: number }) {
    const start = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: after + 1 };
    const { name } = await createConsumer(stream, start);
    const ending = new Subscription();
    const delivery = pullDelivery(connection, {
      stream,
      name,
      ahead,
      onStopped: () => {
        ending.unsubscribe();
        deleteConsumer(stream, name);
      },
    });
    const troubles$ = changes$.pipe(filter(({ type }) => type !== 'error'));
    ending.add(
      troubles$.subscribe({
        next: ({ type }) => delivery.stop(`connection: ${type}`),
        complete: () => delivery.stop('connection: closed'),
      }),
    );
    return delivery;
  }

  async function firstSince(stream: string, time: Date) {
    const start = { deliver_policy: DeliverPolicy.StartTime, opt_start_time: time.toISOString() };
    const created = await createConsumer(stream, start);
    try {
      const { num_pending: waiting } = await jsm.consumers.info(stream, created.name);
      if (waiting === 0) return null;
      const first = await js.consumers.getConsumerFromInfo(created).next({ expires: answerMs });
      if (first === null) throw new Error(`${stream} does not deliver its messages`);
      return first.seq;
    } finally {
      deleteConsumer(stream, created.name);
    }
  }

  /** Each body after the first has to follow its predecessor's ID, which no other message has. */
  async function append(
    subject: string,
    after: number,
    bodies: readonly (string | Uint8Array)[],
    { id, answerMs: timeout = answerMs }: AppendOptions = {},
  ) {
    const chain = nuid.next();
    const last = bodies.length - 1;
    for (const [index, body] of bodies.slice(0, last).entries()) {
      const condition = headers();
      condition.set(PubHeaders.MsgIdHdr, `${chain}.${index}`);
      if (index === 0) condition.set(PubHeaders.ExpectedLastSubjectSequenceHdr, String(after));
      else condition.set(PubHeaders.ExpectedLastMsgIdHdr, `${chain}.${index - 1}`);
      connection.publish(subject, body, { headers: condition });
    }
    const { seq, duplicate } = await js.publish(subject, bodies[last], {
      expect: last === 0 ? { lastSubjectSequence: after } : { lastMsgID: `${chain}.${last - 1}` },
      ...(id !== undefined && { msgID: id }),
      timeout,
    });
    if (duplicate) throw new StreamRefusal('otherEnd', `${subject} has a message ${id} already`);
    return seq;
  }

  async function mayPublish(subject: string) {
    const expect = { lastSequence: impossibleSequence };
    const refusal = await translated(js.publish(subject, '', { expect })).catch((error: unknown) => error);
    return isRefusedAs('otherEnd', refusal);
  }

  async function tryConsumer(stream: string) {
    const { name, created } = await createConsumer(stream, { deliver_policy: DeliverPolicy.New });
    await jsm.consumers.delete(stream, name);
    return created;
  }

  return {
    info: async (stream, { withDeleted = false } = {}) => {
      const options = withDeleted ? { deleted_details: true } : {};
      return describeStream(await translated(jsm.streams.info(stream, options)), connection);
    },
    create: async (config) => void (await translated(jsm.streams.add(config))),
    update: async (stream, config) => void (await translated(jsm.streams.update(stream, config))),
    message: async (stream, seq) => readStored(await translated(jsm.streams.getMessage(stream, { seq }))),
    last: async (stream, last_by_subj) =>
      readStored(await translated(jsm.streams.getMessage(stream, { last_by_subj }))),
    firstSince: (...asked) => translated(firstSince(...asked)),
    deliver: (...asked) => translated(deliver(...asked)),
    append: (...asked) => translated(append(...asked)),
    publish: async (subject, body, msgID) =>
      (await translated(js.publish(subject, body, msgID === undefined ? {} : { msgID }))).seq,
    notify: (subject, body) => {
      try {
        connection.publish(subject, body);
      } catch {
        // The connection is closed.
      }
    },
    mayPublish,
    tryConsumer: (stream) => translated(tryConsumer(stream)),
    consumers: async (stream) =>
      (await translated(jsm.consumers.list(stream).next())).map(({ name, num_pending }) => ({
        name,
        behind: num_pending,
      })),
    account: async () => measureAccount(await jsm.getAccountInfo()),
    server: () => ({
      address: connection.getServer(),
      version: connection.info?.version ?? 'unknown',
      isClustered: connection.info?.cluster !== undefined,
    }),
    changes$,
    close: () => closeNats(connection),
  };
}

/**
 * Closes a connection permanently. When the client closes, it removes the listeners of its socket. A write to a socket that the server
 * has ended could then fail without a listener, which would end the process. One turn of the event loop later, such errors are handled.
 */
export async function closeNats(connection: NatsConnection): Promise<void> {
  await nextTurn();
  await connection.close();
}

const isChange = (status: Status): status is Status & ConnectionChange =>
  ['disconnect', 'reconnect', 'error'].includes(status.type);

/** Turns refusals of JetStream into the port's refusals. */
async function translated<Answer>(asked: Promise<Answer>): Promise<Answer> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof JetStreamApiError)) throw error;
    const { code, message } = error;
    const fault = faults[code];
    if (fault !== undefined) throw new StreamRefusal(fault, message, { cause: error });
    if (!accountLimits.has(code)) throw error;
    throw new Error(`${message}: deploy/RUNNING.md, "NATS of a provider", says what is needed`, {
      cause: error,
    });
  }
}

export function describeStream(
  // Its type lacks the time of the answer.
  { config, created, state, cluster, ts }: JetStreamInfo & { readonly ts?: string },
  { info: server }: Pick<NatsConnection, 'info'>,
): StreamInfo {
  const payloadMax = server?.max_payload ?? Number.POSITIVE_INFINITY;
  const { max_msg_size: size } = config;
  const peers = cluster?.replicas ?? [];
  return {
    config,
    created,
    firstSequence: state.first_seq,
    lastSequence: state.last_seq,
    messages: state.messages,
    bytes: state.bytes,
    firstAt: state.first_ts,
    lastAt: state.last_ts,
    deleted: state.deleted ?? [],
    // A single server leads its own streams, and names no cluster.
    cluster: cluster?.name
      ? {
          name: cluster.name,
          leader: cluster.leader || null,
          peers: peers.map(({ name, offline = false, current }) => ({
            name,
            isOffline: offline,
            isCurrent: current,
          })),
        }
      : null,
    replicas: Math.max(config.num_replicas, 1 + peers.length),
    messageBytesMax: size > 0 ? Math.min(size, payloadMax) : payloadMax,
    serverTime: ts ?? null,
  };
}

/** Reads each member once: the client decodes it at each access. */
function readStored(stored: StoredMsg | null): StreamMessage | null {
  if (stored === null) return null;
  const { seq, subject, data, timestamp } = stored;
  return { seq, subject, data, timestampNanos: parseNanos(timestamp) };
}
