import { setTimeout as sleep } from 'node:timers/promises';
import { NEVER } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import { createJetStreamPort } from '../../streams/nats/jetStreamPort.ts';
import { type Delivery, type StreamPort, StreamRefusal } from '../../streams/nats/streamPort.ts';
import { createMemoryPort } from '../simulation/nats/memoryPort.ts';
import { createMemoryStore } from '../simulation/nats/memoryStore.ts';
import { startCuttingProxy } from '../support/processes/cuttingProxy.ts';
import { eventually, shareInFile } from '../support/processes/lifetime.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';

const server = shareInFile(() => startNats());

/** What the program cannot do: removing messages and streams. */
interface Administration {
  deleteStream(stream: string): Promise<unknown>;
  deleteMessage(stream: string, sequence: number): Promise<unknown>;
  /** Removes everything below a sequence. */
  purge(stream: string, sequence: number): Promise<unknown>;
}

interface Opened {
  readonly port: StreamPort;
  /** Passes on every message of a subject. */
  listen(subject: string, onMessage: (body: string) => void): Promise<void>;
  readonly administration: Administration;
}

async function openReal(): Promise<Opened> {
  const { jetStream, jsm, connection } = await connectTo(await server());
  return {
    port: jetStream,
    listen: async (subject, onMessage) => {
      connection.subscribe(subject, { callback: (_, message) => onMessage(message.string()) });
      await connection.flush();
    },
    administration: {
      deleteStream: (stream) => jsm.streams.delete(stream),
      deleteMessage: (stream, sequence) => jsm.streams.deleteMessage(stream, sequence),
      purge: (stream, seq) => jsm.streams.purge(stream, { seq }),
    },
  };
}

/** A port whose requests run at once. */
async function openMemory(): Promise<Opened> {
  const store = createMemoryStore({
    minorVersion: 10,
    nowMs: () => performance.now(),
    wallMs: () => Date.now(),
    schedule: (_, run) => void setImmediate(run),
  });
  return {
    port: createMemoryPort(store, {
      ask: async (_, run) => run(),
      send: (_, run) => run(),
      tell: (run) => run(),
      changes$: NEVER,
      close: () => undefined,
    }),
    listen: async (wanted, onMessage) => {
      store.onNotice = (subject, body) => subject === wanted && onMessage(body);
    },
    administration: {
      deleteStream: async (stream) => store.deleteStream(stream),
      deleteMessage: async (stream, sequence) => store.find(stream).remove(sequence),
      purge: async (stream, sequence) => store.find(stream).removeBefore(sequence),
    },
  };
}

const unknown = { refused: 'for another reason' };
const settle = (asked: Promise<unknown>) =>
  asked.then(
    (value) => ({ value }),
    (error: unknown) => (error instanceof StreamRefusal ? { refused: error.fault } : unknown),
  );
const show = ({ seq, data }: StreamMessage) => `${seq} ${Buffer.from(data)}`;

/** The next messages; fewer if the delivery ends before. */
async function take(delivery: Delivery, count: number): Promise<string[]> {
  const taken: string[] = [];
  for await (const piece of delivery) {
    taken.push(...piece.map(show));
    if (taken.length >= count) break;
  }
  return taken;
}

describe.each([
  ['nats-server', openReal],
  ['memory', openMemory],
])('the port to %s', (kind, open) => {
  let streams = 0;
  /** A stream that takes `<subject>.one` and others. */
  async function start(config: object = {}) {
    const { port, administration } = await open();
    const number = ++streams;
    const [stream, subject] = [`S${number}`, `s${number}.one`];
    await port.create({ name: stream, subjects: [`s${number}.*`], ...config });
    return { port, administration, stream, subject, other: `s${number}.two` };
  }
  const publishAll = async ({ port, subject }: { port: StreamPort; subject: string }, text: string) => {
    for (const body of text) await port.publish(subject, body);
  };

  it('describes a stream, and says that one is missing', async () => {
    const { port, stream, subject, administration } = await start({ max_msg_size: 1_000 });
    const empty = await port.info(stream);
    expect(empty).toMatchObject({ firstSequence: 0, lastSequence: 0, messages: 0, deleted: [] });
    expect(empty).toMatchObject({ cluster: null, replicas: 1, messageBytesMax: 1_000 });
    for (const body of 'abcd') await port.publish(subject, body);
    await administration.deleteMessage(stream, 3);
    const { firstAt, lastAt, created, ...filled } = await port.info(stream, { withDeleted: true });
    expect(filled).toMatchObject({ firstSequence: 1, lastSequence: 4, messages: 3, deleted: [3] });
    expect([created, firstAt, lastAt].map((at) => Date.parse(at))).toEqual(
      [created, firstAt, lastAt].map((at) => Date.parse(at)).sort((a, b) => a - b),
    );
    await port.update(stream, { max_msg_size: 2_000 });
    expect((await port.info(stream)).config).toMatchObject({ name: stream, max_msg_size: 2_000 });
    expect(
      await Promise.all([port.info('NONE'), port.message('NONE', 1), port.last('NONE', 'a')].map(settle)),
    ).toEqual(Array(3).fill({ refused: 'missing' }));
    expect(await settle(port.deliver('NONE', { after: 0, ahead: 10 }))).toEqual({ refused: 'missing' });
  });

  it('reads a message by sequence, by subject and by time', async () => {
    const { port, stream, subject, other } = await start();
    await port.publish(subject, 'a');
    await port.publish(other, 'b');
    await sleep(20);
    const time = new Date();
    await port.publish(other, 'c');
    const read = [port.message(stream, 1), port.last(stream, subject), port.last(stream, other)];
    const found = (await Promise.all(read)).map((message) => message && show(message));
    expect(found).toEqual(['1 a', '1 a', '3 c']);
    expect([await port.message(stream, 9), await port.last(stream, `${subject}.none`)]).toEqual([null, null]);
    const { timestampNanos = 0n } = (await port.message(stream, 3)) ?? {};
    expect(Math.abs(Number(timestampNanos / 1_000_000n) - time.getTime())).toBeLessThan(10_000);
    expect([await port.firstSince(stream, new Date(0)), await port.firstSince(stream, time)]).toEqual([1, 3]);
    expect(await port.firstSince(stream, new Date(Date.now() + 60_000))).toBeNull();
    expect(await port.consumers(stream)).toEqual([]);
  });

  it('appends only behind the expected end', async () => {
    const { port, stream, subject, other } = await start();
    expect(await port.append(subject, 0, ['a', 'b', 'c'])).toBe(3);
    expect(await settle(port.append(subject, 2, ['d']))).toEqual({ refused: 'otherEnd' });
    expect(await settle(port.append(subject, 0, ['d', 'e']))).toEqual({ refused: 'otherEnd' });
    expect(await port.append(other, 0, [Buffer.from('d')])).toBe(4);
    expect(await port.append(subject, 3, ['e', 'f'])).toBe(6);
    expect((await port.info(stream)).lastSequence).toBe(6);
    expect(await port.append(subject, 6, ['g'], { id: 'after 6' })).toBe(7);
    expect(await settle(port.append(subject, 7, ['h'], { id: 'after 6' }))).toEqual({ refused: 'otherEnd' });
  });

  it('stores each ID once, and one message of a subject if it is told so', async () => {
    const { port, stream, subject } = await start({ max_msgs_per_subject: 1 });
    const published = [port.publish(subject, 'a', 'x'), port.publish(subject, 'b', 'x')];
    expect(await Promise.all(published)).toEqual([1, 1]);
    expect(await port.append(subject, 1, ['c'])).toBe(2);
    expect(await port.info(stream)).toMatchObject({ firstSequence: 2, messages: 1 });
    expect(await port.message(stream, 1)).toBeNull();
    expect(await settle(port.publish('elsewhere', 'a'))).toEqual(unknown);
  });

  it('takes no message that is too large', async () => {
    const { port, stream, subject } = await start({ max_msg_size: 1_000 });
    const large = [port.publish(subject, 'a'.repeat(1_001)), port.append(subject, 0, ['a'.repeat(1_001)])];
    expect(await Promise.all(large.map(settle))).toEqual([unknown, unknown]);
    expect((await port.info(stream)).lastSequence).toBe(0);
  });

  it('sends a notice to who listens, and never throws', async () => {
    const { port, listen } = await open();
    const heard: string[] = [];
    await listen('notices.one', (body) => heard.push(body));
    port.notify('notices.two', 'a');
    port.notify('notices.one', 'b');
    await eventually(() => heard.length > 0, 'the notice');
    expect(heard).toEqual(['b']);
    await port.close();
    port.notify('notices.one', 'c');
  });

  it('delivers from a sequence on, over gaps, also what is published meanwhile', async () => {
    const started = await start();
    const { port, administration, stream, subject } = started;
    await publishAll(started, 'abcdef');
    await administration.deleteMessage(stream, 4);
    const delivery = await port.deliver(stream, { after: 2, ahead: 2 });
    const taken = take(delivery, 5);
    await sleep(50);
    await port.publish(subject, 'g');
    await port.append(subject, 7, ['h']);
    expect(await taken).toEqual(['3 c', '5 e', '6 f', '7 g', '8 h']);
    expect((await port.consumers(stream)).map(({ behind }) => behind)).toEqual([0]);
    expect(delivery.reason()).toBeNull();
    delivery.stop('enough');
    delivery.stop('more than enough');
    expect(delivery.reason()).toBe('enough');
    await eventually(async () => (await port.consumers(stream)).length === 0, 'the end of the consumer');
  });

  it('jumps over what is purged in front of a delivery', async () => {
    const started = await start();
    const { port, administration, stream } = started;
    await publishAll(started, 'abcdef');
    await administration.purge(stream, 5);
    const delivery = await port.deliver(stream, { after: 0, ahead: 10 });
    const pieces: (readonly StreamMessage[])[] = [];
    for await (const piece of delivery) if (pieces.push(piece) > 0 && piece.at(-1)?.seq === 6) break;
    expect(pieces.flat().map(show)).toEqual(['5 e', '6 f']);
    for (const { seq, timestampNanos } of pieces.flat())
      expect(await port.message(stream, seq)).toMatchObject({ timestampNanos });
    delivery.stop('enough');
  });

  it('ends a delivery whose stream is deleted, and creates another one', async () => {
    const started = await start();
    const { port, administration, stream } = started;
    await publishAll(started, 'ab');
    const { created, config } = await port.info(stream);
    const delivery = await port.deliver(stream, { after: 0, ahead: 10 });
    const taken = take(delivery, 3);
    await sleep(100);
    await administration.deleteStream(stream);
    expect(await taken).toEqual(['1 a', '2 b']);
    expect(delivery.reason()).toMatch(/^consumer: /);
    delivery.stop('late');
    await port.create(config);
    const again = await port.info(stream);
    expect([again.created === created, again.lastSequence]).toEqual([false, 0]);
  });

  it('tells what it is connected to, and what this user may do', async () => {
    const { port, stream, subject } = await start();
    expect(port.server()).toMatchObject({
      isClustered: false,
      version: expect.stringMatching(/^2\.\d+\.\d+/),
    });
    expect((await port.account()).limitBytes).toBeNull();
    expect(await port.mayPublish(subject)).toBe(true);
    expect(Math.abs(Date.parse(await port.tryConsumer(stream)) - Date.now())).toBeLessThan(10_000);
    expect([(await port.info(stream)).lastSequence, await port.consumers(stream)]).toEqual([0, []]);
    expect(kind === 'memory' || port.server().address.startsWith('127.0.0.1:')).toBe(true);
    await port.close();
  });
});

it('a wire that is cut or falls silent ends deliveries, and leaves the outcome of a request unknown', async () => {
  const nats = await startNats();
  const proxy = await startCuttingProxy(nats.url);
  const { jetStream: port } = await connectTo({ ...nats, url: proxy.url });
  const changes: string[] = [];
  port.changes$.subscribe(({ type }) => changes.push(type));
  await port.create({ name: 'S', subjects: ['s'] });
  await port.publish('s', 'a');
  const cut = await port.deliver('S', { after: 0, ahead: 10 });
  const taken = take(cut, 9);
  await eventually(async () => (await port.consumers('S'))[0]?.behind === 0, 'the first message');
  proxy.cutAnswers(1);
  expect(await settle(port.append('s', 1, ['b', 'c', 'd'], { answerMs: 500 }))).toEqual(unknown);
  expect([await taken, cut.reason()]).toEqual([['1 a'], 'connection: disconnect']);
  await eventually(() => changes.length === 2, 'the reconnection');
  expect(changes).toEqual(['disconnect', 'reconnect']);
  // The proxy forwards requests completely.
  expect(await settle(port.append('s', 1, ['b']))).toEqual({ refused: 'otherEnd' });
  const silenced = await port.deliver('S', { after: 3, ahead: 10 });
  const later = take(silenced, 9);
  await eventually(async () => (await port.consumers('S')).at(-1)?.behind === 0, 'the last message');
  proxy.silence();
  expect([await later, silenced.reason()]).toEqual([['4 d'], 'consumer: silent']);
});

it('does not wait for ever for a message that leaves the stream before it is delivered', async () => {
  const { connection, jsm } = await connectTo(await server());
  const port = await createJetStreamPort(connection, 1_000);
  await port.create({ name: 'LEAVING', subjects: ['leaving'] });
  await port.publish('leaving', 'a');
  const publish = connection.publish.bind(connection);
  vi.spyOn(connection, 'publish').mockImplementation((subject, ...request) => {
    if (!subject.startsWith('$JS.API.CONSUMER.MSG.NEXT.')) return publish(subject, ...request);
    void jsm.streams.purge('LEAVING').then(() => publish(subject, ...request));
  });
  await expect(port.firstSince('LEAVING', new Date(0))).rejects.toThrow('LEAVING does not deliver');
});
