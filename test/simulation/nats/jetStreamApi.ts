import { type ApiError, consumerKey, type JetStreamStore } from './jetStreamStore.ts';
import type { ConsumerConfiguration, PullConsumer } from './pullConsumers.ts';
import { formatNanos, type StoredStream, type StreamConfiguration } from './storedStream.ts';

const streamMissing: ApiError = { code: 404, err_code: 10_059, description: 'stream not found' };
const consumerMissing: ApiError = { code: 404, err_code: 10_014, description: 'consumer not found' };
const messageMissing: ApiError = { code: 404, err_code: 10_037, description: 'no message found' };

/**
 * Answers a request to `$JS.API.`, except pulls of messages.
 *
 * @param words of the subject after the prefix.
 */
export function answerApi(store: JetStreamStore, words: readonly string[], data: Buffer): object {
  const [family, action, ...rest] = words;
  const request = data.length === 0 ? {} : (JSON.parse(data.toString('utf8')) as Record<string, unknown>);
  if (family === 'INFO') return describeAccount(store);
  if (family === 'STREAM') return answerStream(store, action ?? '', rest, request);
  if (family === 'CONSUMER') return answerConsumer(store, action ?? '', rest, request);
  throw new Error(`the simulated server does not know ${words.join('.')}`);
}

function describeAccount({ streams, consumers }: JetStreamStore): object {
  const type = 'io.nats.jetstream.api.v1.account_info_response';
  return {
    type,
    memory: 0,
    storage: 0,
    streams: streams.size,
    consumers: consumers.size,
    limits: {},
    api: {},
  };
}

function answerStream(
  store: JetStreamStore,
  action: string,
  rest: readonly string[],
  request: Readonly<Record<string, unknown>>,
): object {
  const type = (name: string) => `io.nats.jetstream.api.v1.stream_${name}_response`;
  if (action === 'NAMES') {
    const streams = [...store.streams.keys()];
    return { type: type('names'), total: streams.length, offset: 0, limit: 1_024, streams };
  }
  const name = rest.at(-1) ?? '';
  const stream = store.streams.get(name);
  const knownNanos = findKnownNanos(store, stream);
  if (action === 'CREATE') {
    // Its settings come from a client of ours.
    const created = stream ?? store.createStream(request as unknown as StreamConfiguration);
    return { type: type('create'), ...describeStream(store, created, false) };
  }
  if (stream === undefined) return { type: type('info'), error: streamMissing };
  switch (action) {
    case 'UPDATE':
      stream.configuration = { ...stream.configuration, ...request };
      return { type: type('update'), ...describeStream(store, stream, false) };
    case 'INFO':
      return { type: type('info'), ...describeStream(store, stream, request.deleted_details === true) };
    case 'DELETE':
      return { type: type('delete'), success: store.deleteStream(name) };
    case 'PURGE': {
      const before = typeof request.seq === 'number' ? request.seq : stream.lastSequence + 1;
      return { type: type('purge'), success: true, purged: stream.removeBefore(before) };
    }
    case 'MSG':
      return rest[0] === 'DELETE' ? deleteMessage(stream, request) : readMessage(stream, request, knownNanos);
    default:
      throw new Error(`the simulated server does not know STREAM.${action}`);
  }
}

/** A leader knows the messages that were stored through this time. */
function findKnownNanos(
  { isReplicated, behindMs, isLeaseForgotten, nowNanos }: JetStreamStore,
  stream: StoredStream | undefined,
): bigint {
  if (isLeaseForgotten && stream?.configuration.name === 'MINER_LEASE') return 0n;
  return nowNanos() - (isReplicated ? BigInt(behindMs) * 1_000_000n : 0n);
}

function deleteMessage(stream: StoredStream, { seq }: Readonly<Record<string, unknown>>): object {
  const type = 'io.nats.jetstream.api.v1.stream_msg_delete_response';
  if (stream.remove(Number(seq))) return { type, success: true };
  return { type, error: { code: 400, err_code: 10_043, description: `sequence ${seq} not found` } };
}

function readMessage(
  stream: StoredStream,
  request: Readonly<Record<string, unknown>>,
  knownNanos: bigint,
): object {
  const type = 'io.nats.jetstream.api.v1.stream_msg_get_response';
  const found =
    typeof request.last_by_subj === 'string'
      ? stream.lastOf(request.last_by_subj, knownNanos)
      : (stream.messages.get(Number(request.seq)) ?? null);
  if (found === null || found.atNanos > knownNanos) return { type, error: messageMissing };
  const { subject, sequence: seq, headers, data, atNanos } = found;
  const hdrs = headers === null ? {} : { hdrs: headers.toString('base64') };
  return {
    type,
    message: { subject, seq, ...hdrs, data: data.toString('base64'), time: formatNanos(atNanos) },
  };
}

function describeStream(store: JetStreamStore, stream: StoredStream, withDeleted: boolean): object {
  stream.expire(store.nowNanos());
  const { configuration, createdNanos, firstSequence, messages } = stream;
  const lastSequence = stream.lastThrough(findKnownNanos(store, stream));
  const deleted = stream.listDeleted();
  const consumers = [...store.consumers.values()].filter(
    ({ streamName }) => streamName === configuration.name,
  );
  return {
    config: { num_replicas: store.isReplicated ? 3 : 1, ...configuration },
    created: formatNanos(createdNanos),
    state: {
      messages: messages.size,
      bytes: 0,
      first_seq: lastSequence === 0 ? 0 : firstSequence,
      first_ts: '0001-01-01T00:00:00Z',
      last_seq: lastSequence,
      last_ts: '0001-01-01T00:00:00Z',
      ...(deleted.length > 0 && { num_deleted: deleted.length }),
      ...(deleted.length > 0 && withDeleted && { deleted }),
      consumer_count: consumers.length,
    },
  };
}

function answerConsumer(
  store: JetStreamStore,
  action: string,
  [streamName = '', consumerName = '']: readonly string[],
  request: Readonly<Record<string, unknown>>,
): object {
  const type = `io.nats.jetstream.api.v1.consumer_${action.toLowerCase()}_response`;
  const stream = store.streams.get(streamName);
  if (stream === undefined) return { type, error: streamMissing };
  const key = consumerKey(streamName, consumerName);
  if (action === 'CREATE') {
    // Its settings come from a client of ours.
    const configuration = { ...(request.config as ConsumerConfiguration), name: consumerName };
    return { type, ...describeConsumer(store.addConsumer(stream, configuration)) };
  }
  const consumer = store.consumers.get(key);
  if (consumer === undefined) return { type, error: consumerMissing };
  if (action === 'INFO') return { type, ...describeConsumer(consumer) };
  if (action === 'DELETE') return { type, success: store.removeConsumer(key, true) };
  throw new Error(`the simulated server does not know CONSUMER.${action}`);
}

function describeConsumer(consumer: PullConsumer): object {
  const { configuration, createdNanos, streamName } = consumer;
  const { delivered, waiting } = consumer.info();
  return {
    stream_name: streamName,
    name: configuration.name,
    created: formatNanos(createdNanos),
    config: configuration,
    delivered,
    ack_floor: delivered,
    num_ack_pending: 0,
    num_redelivered: 0,
    num_waiting: waiting,
    num_pending: consumer.pending(),
  };
}
