import { describe, expect, it } from 'vitest';
import { createStreamVerifier } from '../../streams/jetstream/proofs/streamVerifier.ts';
import { parseNanos } from '../../streams/nats/nanos.ts';
import type { RejectedMessage } from '../../streams/pipeline/pipelineItem.ts';
import {
  createRejectionLog,
  type RejectionLog,
  type RejectionLogOptions,
  rejectionMessage,
  unacknowledgedMax,
} from '../../streams/pipeline/rejectionLog.ts';
import { collectLines } from '../support/collectLines.ts';
import { manualClock } from '../support/manualClock.ts';
import { startCuttingProxy } from '../support/processes/cuttingProxy.ts';
import { eventually, temporaryDirectory } from '../support/processes/lifetime.ts';
import {
  connectTo,
  fetchMessages,
  readRejections,
  startNats,
  type TestConnection,
} from '../support/processes/natsServer.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { createRemovableStreams } from '../support/streams/removableStreams.ts';
import { buildBatchItem, feedSink } from '../support/streams/sinkFeed.ts';
import { createStreams } from '../support/streams/startStreams.ts';

async function startLog(settings = '') {
  const server = await startNats(temporaryDirectory(), settings);
  const nats = await connectTo(server);
  await createRemovableStreams(nats.jsm);
  return { server, nats };
}

async function logOn(nats: TestConnection, options: Partial<RejectionLogOptions> = {}) {
  const reader = { ...nats, stream: 'MINER_COUNTER', clock: manualClock(), logger: silentLogger } as const;
  const log = createRejectionLog({
    ...reader,
    verifier: createStreamVerifier(reader),
    ensureStreams: () => createStreams(nats.jetStream),
    ...options,
  });
  return Object.assign(log, feedLog(log));
}

/** Passes rejections to a log. */
function feedLog(log: RejectionLog) {
  const sink = feedSink(log.afterPublication);
  const addAll = (rejections: RejectedMessage[]) =>
    sink.give(buildBatchItem({ rejections }, rejections.at(-1)?.sequence ?? 0));
  const add = (message: RejectedMessage) => addAll([message]);
  const publish = async (...messages: RejectedMessage[]) => {
    messages.forEach(add);
    await sink.emptied();
  };
  return { add, addAll, publish, flushed: sink.emptied, cancel: sink.cancel };
}

/** Sets an operator's limit, which the service does not change. */
async function limitMessages({ jsm }: TestConnection, max_msg_size: number) {
  const { config } = await jsm.streams.info('MINER_REJECTED');
  await jsm.streams.update('MINER_REJECTED', { ...config, max_msg_size });
}

/** Publishes a bad message and returns the rejection that a fold would make. */
async function publishBad({ js, jsm }: TestConnection, text: string): Promise<RejectedMessage> {
  const { seq } = await js.publish('miner.counter.wheel', text);
  const { created } = await jsm.streams.info('MINER_COUNTER');
  const stored = await jsm.streams.getMessage('MINER_COUNTER', { seq });
  return {
    streamCreated: created,
    sequence: seq,
    storedAtNanos: parseNanos(stored?.timestamp ?? ''),
    subject: 'miner.counter.wheel',
    messageId: null,
    data: Buffer.from(text),
    reason: 'malformed',
    detail: 'not JSON',
  };
}

/** Rejections of messages in the stream. */
async function buildRejections(nats: TestConnection, count: number): Promise<RejectedMessage[]> {
  const message = await publishBad(nats, 'one');
  for (let sent = 2; sent < count; sent++) nats.connection.publish(message.subject, 'one');
  await publishBad(nats, 'one');
  const stored = await fetchMessages(nats, 'MINER_COUNTER');
  return stored.map(({ seq: sequence, timestampNanos: storedAtNanos }) => ({
    ...message,
    sequence,
    storedAtNanos,
  }));
}

/** Notices on a connection, in order. */
async function listenForNotices({ connection }: TestConnection) {
  const notices: { readonly subject: string; readonly sequence: number }[] = [];
  connection.subscribe('miner.refused.>', {
    callback: (_, message) => {
      notices.push({ subject: message.subject, ...message.json<{ readonly sequence: number }>() });
    },
  });
  await connection.flush();
  return notices;
}

const readSequences = async (nats: TestConnection) =>
  (await readRejections(nats, 'MINER_COUNTER')).map(({ sequence }) => sequence);

/** The rejection that is message `seq` of the stream of rejections. */
async function readRejection({ jsm }: TestConnection, seq: number) {
  const stored = await jsm.streams.getMessage('MINER_REJECTED', { seq });
  expect(stored?.subject).toBe('miner.rejected.MINER_COUNTER');
  return rejectionMessage.parse(stored?.json());
}

describe('rejection log', () => {
  it('publishes each rejection once with its bytes, although messages are folded again', async () => {
    const { nats } = await startLog();
    const messages = [
      await publishBad(nats, 'one'),
      await publishBad(nats, 'twö'),
      await publishBad(nats, ''),
    ];
    const log = await logOn(nats);
    await log.publish(...messages);
    const second = await readRejection(nats, 2);
    expect(second).toMatchObject({ sequence: 2, reason: 'malformed', byteLength: 4, truncated: false });
    expect(Buffer.from(second.original, 'base64').toString('utf8')).toBe('twö');

    const again = await logOn(nats);
    await again.publish(...messages, await publishBad(nats, 'four'));
    expect(await readSequences(nats)).toEqual([1, 2, 3, 4]);
  });

  it('tells the publisher once why a message is rejected, once that is stored', async () => {
    const { server, nats } = await startLog();
    const notices = await listenForNotices(await connectTo(server));
    const messages = [{ ...(await publishBad(nats, 'one')), messageId: 'id' }, await publishBad(nats, 'two')];
    await limitMessages(nats, 1);
    const log = await logOn(nats);
    log.addAll(messages);
    await eventually(() => log.failures > 1, 'failures');
    expect(notices).toEqual([]);
    await limitMessages(nats, -1);
    await log.flushed();
    // Another process folds the messages again, and one more.
    await (await logOn(nats)).publish(...messages, await publishBad(nats, 'three'));
    await eventually(() => notices.length > 2, 'three notices');
    const notice = { subject: 'miner.refused.counter.wheel', stream: 'MINER_COUNTER', reason: 'malformed' };
    expect(notices).toEqual(
      ['id', null, null].map((messageId, index) => ({
        ...notice,
        sequence: index + 1,
        detail: 'not JSON',
        messageId,
      })),
    );
  });

  it('publishes once what a cancelled pipeline left, as the next pipeline produces it again', async () => {
    const { nats } = await startLog();
    const messages = await buildRejections(nats, 4);
    let mayPublish = false;
    const log = await logOn(nats, { mayPublish: () => mayPublish });
    log.addAll(messages);
    await eventually(() => log.failures > 0, 'a failure');
    expect(log.waiting).toBe(4);
    log.cancel();
    expect([log.waiting, log.publishingForMs]).toEqual([0, null]);
    mayPublish = true;
    const next = feedLog(log);
    next.addAll(messages);
    await next.flushed();
    expect(await readSequences(nats)).toEqual([1, 2, 3, 4]);
  });

  it('publishes hundreds of rejections with a few answers of the server', async () => {
    const { nats } = await startLog();
    const messages = await buildRejections(nats, 2 * unacknowledgedMax + 1);
    const log = await logOn(nats);
    const before = nats.connection.stats().inMsgs;
    log.addAll(messages);
    await log.flushed();
    // Three answers say what is published already.
    expect(nats.connection.stats().inMsgs - before).toBe(6);
    expect(await readSequences(nats)).toEqual(messages.map(({ sequence }) => sequence));
  });

  it('stores no rejection before its predecessor, and logs why one is refused', async () => {
    const { nats } = await startLog();
    const [first, second, third] = await buildRejections(nats, 3);
    const { lines, logger } = collectLines('warn');
    const log = await logOn(nats, { logger });
    await limitMessages(nats, 1_000);
    log.addAll([first, { ...second, detail: 'x'.repeat(2_000) }, third] as RejectedMessage[]);
    await eventually(() => log.failures > 2, 'failures');
    expect(await readSequences(nats)).toEqual([1]);
    expect(lines).toMatchObject([
      { err: { message: expect.stringMatching(/message size exceeds maximum/) } },
    ]);
    await limitMessages(nats, -1);
    await log.flushed();
    expect(await readSequences(nats)).toEqual([1, 2, 3]);
  });

  it('publishes each once, in order, though the connection is cut at an answer', async () => {
    const { server, nats } = await startLog();
    const messages = await buildRejections(nats, 3 * unacknowledgedMax);
    const notices = await listenForNotices(nats);
    const proxy = await startCuttingProxy(server.url);
    const log = await logOn(await connectTo({ ...server, url: proxy.url }));
    log.addAll(messages);
    await eventually(async () => (await readSequences(nats)).length >= unacknowledgedMax, 'earlier ones');
    proxy.cutAnswers(1);
    await log.flushed(60_000);
    const sequences = messages.map(({ sequence }) => sequence);
    expect(await readSequences(nats)).toEqual(sequences);
    // The notices of an attempt without an answer are lost, and no notice is sent twice.
    const noticed = notices.map(({ sequence }) => sequence);
    expect(sequences.filter((sequence) => noticed.includes(sequence))).toEqual(noticed);
  });

  it('publishes each once, in order, while another connection publishes in between', async () => {
    const { server, nats } = await startLog();
    const messages = await buildRejections(nats, 3 * unacknowledgedMax);
    const other = await connectTo(server);
    const publishing = (async () => {
      for (let sent = 0; sent < 200; sent++) await other.js.publish('miner.rejected.MINER_COUNTER', '{}');
    })();
    const log = await logOn(nats);
    log.addAll(messages);
    await log.flushed(60_000);
    await publishing;
    const bodies = await fetchMessages(nats, 'MINER_REJECTED');
    const rejections = bodies.filter(({ data }) => data.length > 2).map((stored) => stored.json());
    expect(rejections.map((each) => rejectionMessage.parse(each).sequence)).toEqual(
      messages.map(({ sequence }) => sequence),
    );
  });

  it('publishes again for a recreated stream with the same sequences', async () => {
    const { nats } = await startLog();
    const log = await logOn(nats);
    await log.publish(await publishBad(nats, 'one'));
    await nats.jsm.streams.delete('MINER_COUNTER');
    await createStreams(nats.jetStream);
    const other = await publishBad(nats, 'one');
    log.cancel();
    await feedLog(log).publish(other);
    expect(await readRejections(nats, 'MINER_COUNTER')).toHaveLength(2);
  });

  it.each([
    ['other bytes', { data: Buffer.from('lost') }, 1, [1, 2, 2]],
    ['the same bytes', { storedAtNanos: 1n }, 0, [1, 2, 1, 2]],
  ])('publishes again what has the place of a lost message with %s', async (_, lost, kept, published) => {
    const { nats } = await startLog();
    const messages = [await publishBad(nats, 'one'), await publishBad(nats, 'two')];
    const log = await logOn(nats);
    // The stream has lost the messages after the kept ones, and holds others in their place.
    await log.publish(...messages.map((message, at) => (at < kept ? message : { ...message, ...lost })));
    log.cancel();
    await feedLog(log).publish(...messages);
    expect(await readSequences(nats)).toEqual(published);
  });

  it.each([
    ['half a mebibyte', '', -1, 900_000, 512 * 1024, 512 * 1024],
    ['what the server accepts', 'max_payload: 32768', -1, 30_000, 15_000, 29_999],
    ['what its stream takes', '', 16_384, 30_000, 6_144, 6_144],
    ['nothing, if its stream takes little', '', 2_000, 30_000, 0, 0],
  ])(
    'keeps of a long message no more than %s, and finds it again',
    async (_, settings, limit, bytes, min, max) => {
      const { nats } = await startLog(settings);
      await limitMessages(nats, limit);
      const log = await logOn(nats);
      const messages = [await publishBad(nats, 'x'.repeat(bytes)), await publishBad(nats, 'y'.repeat(100))];
      await log.publish(...messages);
      expect(log.failures).toBe(0);
      const rejection = await readRejection(nats, 1);
      expect(rejection).toMatchObject({ byteLength: bytes, truncated: true });
      const kept = Buffer.from(rejection.original, 'base64').length;
      expect([kept >= min, kept <= max]).toEqual([true, true]);
      await (await logOn(nats)).publish(...messages);
      expect(await readSequences(nats)).toEqual([1, 2]);
    },
  );

  it('reports for how long it has tried to publish the current rejection', async () => {
    const { nats } = await startLog();
    const clock = manualClock();
    const log = await logOn(nats, { clock });
    await limitMessages(nats, 1);
    expect(log.publishingForMs).toBeNull();
    log.add(await publishBad(nats, 'one'));
    await eventually(() => log.failures > 0, 'a failure');
    clock.advance(4_000);
    await eventually(() => log.failures > 2, 'another failure');
    expect(log.publishingForMs).toBe(4_000);
    await limitMessages(nats, -1);
    await log.flushed();
    expect(log.publishingForMs).toBeNull();
  });

  it('passes over foreign messages, and recognizes later reasons', async () => {
    const { nats } = await startLog();
    const messages = [await publishBad(nats, 'one'), await publishBad(nats, 'two')];
    const log = await logOn(nats);
    await log.publish(...messages);
    const ofLaterVersion = { ...(await readRejection(nats, 2)), reason: 'unheard_of' };
    await nats.jsm.streams.deleteMessage('MINER_REJECTED', 2);
    for (const body of [JSON.stringify(ofLaterVersion), '{}', 'not JSON'])
      await nats.js.publish('miner.rejected.MINER_COUNTER', body);

    const { lines, logger } = collectLines('warn');
    const again = await logOn(nats, { logger });
    await again.publish(...messages, await publishBad(nats, 'three'));
    expect(lines.filter(({ msg }) => msg.includes('is not a rejection'))).toMatchObject([{ sequence: 5 }]);
    const { state } = await nats.jsm.streams.info('MINER_REJECTED');
    expect(state.last_seq).toBe(6);
  });

  it('warns of each reason once a minute, with an example and the number', async () => {
    const { nats } = await startLog();
    const clock = manualClock();
    const { lines, logger } = collectLines('warn');
    const log = await logOn(nats, { clock, logger });
    const reject = async (reason: RejectedMessage['reason']) => {
      await log.publish({ ...(await publishBad(nats, reason)), reason });
    };
    for (let round = 0; round < 3; round++) {
      for (const reason of ['malformed', 'duplicate', 'malformed'] as const) await reject(reason);
      clock.advance(20_000);
    }
    await reject('malformed');
    clock.advance(60_000);
    await reject('malformed');
    expect(lines.map(({ sequence, reason, rejected }) => [sequence, reason, rejected])).toEqual([
      [1, 'malformed', 1],
      [2, 'duplicate', 1],
      [10, 'malformed', 6],
      [11, 'malformed', 1],
    ]);
    expect(lines[0]).toMatchObject({
      stream: 'MINER_COUNTER',
      subject: 'miner.counter.wheel',
      detail: 'not JSON',
    });
  });

  it('counts failures while its stream is missing, has it recreated, and publishes everything', async () => {
    const { nats } = await startLog();
    const log = await logOn(nats);
    const messages = [await publishBad(nats, 'one'), await publishBad(nats, 'two')];
    await nats.jsm.streams.delete('MINER_REJECTED');
    await log.publish(...messages);
    expect(log.failures).toBeGreaterThan(0);
    expect(await readRejections(nats, 'MINER_COUNTER')).toHaveLength(2);
  });
});
