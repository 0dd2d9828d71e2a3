import { from } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { missingDigest, startOfStream } from '../../streams/jetstream/proofs/streamPosition.ts';
import { batchBytesMax } from '../../streams/jetstream/source/messageBatch.ts';
import { pullBounds } from '../../streams/jetstream/source/messageSource.ts';
import { eventually, whenFinished } from '../support/processes/lifetime.ts';
import { connectTo, startNats, type TestConnection } from '../support/processes/natsServer.ts';
import { collectSource } from '../support/streams/collectedSource.ts';
import { createRemovableStreams } from '../support/streams/removableStreams.ts';
import { createStreams } from '../support/streams/startStreams.ts';

const subject = 'miner.counter.wheel';

async function startServer() {
  const server = await startNats();
  const nats = await connectTo(server);
  await createRemovableStreams(nats.jsm);
  return { server, nats };
}

async function publish({ js }: TestConnection, from: number, to: number, text = 'message') {
  // A hundred at a time, which arrive in this order.
  for (let sent = from; sent <= to; sent += 100)
    await Promise.all(
      range(sent, Math.min(sent + 99, to)).map((number) => js.publish(subject, `${text} ${number}`)),
    );
}

const largeBytes = 1_000_000;
/** Bytes that a message adds to its own. */
const envelopesBytes = 1024 * 1024;

async function publishLarge({ js }: TestConnection, count: number) {
  const large = new Uint8Array(largeBytes);
  // Ten at a time: too many bytes must not wait for the server.
  for (let sent = 0; sent < count; sent += 10)
    await Promise.all(Array.from({ length: 10 }, () => js.publish(subject, large)));
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe('message source', () => {
  it('resumes after a stream position, and refuses one that the stream does not have', async () => {
    const { nats } = await startServer();
    await publish(nats, 1, 50);
    const first = collectSource(nats);
    await eventually(() => first.sequences.length === 50, '50 messages');
    first.stop();
    await publish(nats, 51, 60);
    const second = collectSource(nats, { from: first.streamPosition });
    await eventually(() => second.sequences.length === 10, 'the next ten');
    expect(second.sequences).toEqual(range(51, 60));

    const beyond = collectSource(nats, { from: { ...second.streamPosition, position: 61 } });
    await eventually(() => beyond.failure, 'refusal of a position beyond the end');
    expect(beyond.failure).toMatchObject({ reason: 'stream_ends_before_position' });
    const other = collectSource(nats, { from: { ...first.streamPosition, position: 49 } });
    await eventually(() => other.failure, 'refusal of another message');
    await nats.jsm.streams.deleteMessage('MINER_COUNTER', 50);
    const deleted = collectSource(nats, { from: first.streamPosition });
    await eventually(() => deleted.failure, 'refusal of a message that is gone');
    const replaced = collectSource(nats, { from: { ...second.streamPosition, digest: missingDigest } });
    await eventually(() => replaced.failure, 'refusal of a message where none was');
    for (const { failure } of [other, deleted, replaced])
      expect(failure).toMatchObject({ reason: 'other_message_at_position' });
    const refused = [beyond, other, deleted, replaced];
    expect(refused.flatMap(({ sequences }) => sequences)).toEqual([]);
  });

  it('passes single deletions, also at the end, without another consumer', async () => {
    const { nats } = await startServer();
    await publish(nats, 1, 102);
    for (let sequence = 2; sequence <= 102; sequence += 2)
      await nats.jsm.streams.deleteMessage('MINER_COUNTER', sequence);
    const collected = collectSource(nats);
    await eventually(() => collected.source.status().position === 102, 'the end');
    await publish(nats, 103, 103);
    await eventually(() => collected.sequences.at(-1) === 103, 'the last message');
    expect(collected.sequences).toEqual(range(1, 103).filter((sequence) => sequence % 2 === 1));
    expect(collected.source.status()).toMatchObject({ missedMessages: 51, interruptions: 0 });
  });

  it.each([5, 7])('ends at a deleted message 5, the last one requested of %i', async (last) => {
    const { nats } = await startServer();
    await publish(nats, 1, last);
    for (const sequence of range(4, last)) await nats.jsm.streams.deleteMessage('MINER_COUNTER', sequence);
    const collected = collectSource(nats, { through: 5 });
    await eventually(() => collected.hasEnded, 'the end');
    expect([collected.sequences, collected.source.status().position]).toEqual([range(1, 3), 5]);
  });

  it('emits large messages in small batches, and lets the event loop turn in between', async () => {
    const { nats } = await startServer();
    for (const bytes of [100_000, batchBytesMax, 400_000])
      for (let number = 0; number < 10; number++) await nats.js.publish(subject, 'x'.repeat(bytes));
    const collected = collectSource(nats);
    await eventually(() => collected.sequences.length === 30, 'all');
    expect(collected.sequences).toEqual(range(1, 30));
    const several = collected.batches.filter(({ messages }) => messages > 1);
    for (const { bytes } of several) expect(bytes).toBeLessThanOrEqual(batchBytesMax);
    // The last messages of one turn are emitted at its end, so they count with the next turn.
    const turns = collected.batches.map(({ turn }) => turn);
    for (const turn of turns) expect(turns.filter((one) => one === turn).length).toBeLessThanOrEqual(2);
  });

  it('reads no more bytes than the bound while its gate is closed', async () => {
    const { server, nats: publisher } = await startServer();
    const nats = await connectTo(server);
    const collected = collectSource(nats);
    await publish(publisher, 1, 1);
    await eventually(() => collected.sequences.length === 1, 'the first');
    collected.isOpen = false;
    await publish(publisher, 2, 2);
    await eventually(() => collected.sequences.length === 2, 'the one that is under way');
    const before = nats.connection.stats().inBytes;
    await publishLarge(publisher, 100);
    await eventually(() => collected.source.status().lastSequence === 102, 'an inspection of the stream');
    // Everything that the server sent before its answer has arrived.
    await nats.connection.flush();
    const { inBytes } = nats.connection.stats();
    expect(inBytes - before).toBeGreaterThan(largeBytes);
    expect(inBytes - before).toBeLessThan(pullBounds.bytes + envelopesBytes);
    collected.isOpen = true;
    await eventually(() => collected.sequences.length === 102, 'all');
    expect(collected.sequences).toEqual(range(1, 102));
  });

  it('reads large messages after many small ones, each once, over one connection', async () => {
    const { server, nats: publisher } = await startServer();
    await Promise.all(range(1, 1_000).map(() => publisher.js.publish(subject, 'small')));
    await publishLarge(publisher, 200);
    const nats = await connectTo(server);
    let disconnects = 0;
    const counting = from(nats.connection.status()).subscribe(({ type }) => {
      if (type === 'disconnect') disconnects++;
    });
    whenFinished(() => counting.unsubscribe());
    const before = nats.connection.stats().inBytes;
    const collected = collectSource(nats);
    await eventually(() => collected.sequences.length === 1_200, 'all');
    expect(collected.sequences).toEqual(range(1, 1_200));
    expect(nats.connection.stats().inBytes - before).toBeLessThan(200 * largeBytes + envelopesBytes);
    expect(disconnects).toBe(0);
  });

  it('requests fewer messages from a server that cuts it off', async () => {
    const server = await startNats(undefined, 'max_payload: 256KB\nmax_pending: 1MB');
    const publisher = await connectTo(server);
    await createRemovableStreams(publisher.jsm);
    const large = new Uint8Array(200_000);
    for (let number = 0; number < 200; number++) await publisher.js.publish(subject, large);
    const nats = await connectTo(server);
    const collected = collectSource(nats);
    await eventually(() => collected.sequences.length === 200, 'all');
    expect(collected.sequences).toEqual(range(1, 200));
    const { interruptions } = collected.source.status();
    expect(interruptions).toBeGreaterThan(0);
    // From 128 messages to the least.
    expect(interruptions).toBeLessThanOrEqual(6);
  });

  it('takes messages that are larger than one request', async () => {
    const server = await startNats(undefined, 'max_payload: 24MB');
    const nats = await connectTo(server);
    await createRemovableStreams(nats.jsm);
    const huge = new Uint8Array(pullBounds.bytes * 0.6);
    for (let number = 0; number < 3; number++) await nats.js.publish(subject, huge);
    await publish(nats, 4, 4);
    const collected = collectSource(nats);
    await eventually(() => collected.sequences.length === 4, 'all');
    expect(collected.sequences).toEqual(range(1, 4));
  });

  it('waits for a server that is unavailable, and for a stream that is missing', async () => {
    const { server, nats } = await startServer();
    await publish(nats, 1, 10);
    const disconnected = (async () => {
      for await (const { type } of nats.connection.status()) if (type === 'disconnect') return;
    })();
    await server.kill('SIGKILL');
    await disconnected;
    const collected = collectSource(nats, { from: startOfStream });
    await server.start();
    await eventually(() => collected.sequences.length === 10, 'the messages');

    await nats.jsm.streams.delete('MINER_PIPELINE');
    const other = collectSource(nats, { stream: 'MINER_PIPELINE' });
    await eventually(() => other.source.status().state === 'missing', 'a missing stream');
    await createStreams(nats.jetStream);
    await nats.js.publish('miner.signer.wheel', '{}');
    await eventually(() => other.sequences.length === 1, 'its first message');
  });
});
