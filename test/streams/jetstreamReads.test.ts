import { expect, it } from 'vitest';
import { findSequenceAt } from '../../streams/jetstream/findSequenceAt.ts';
import { readBackwards } from '../../streams/jetstream/readBackwards.ts';
import { readRange } from '../../streams/jetstream/readRange.ts';
import { readLaterRejections, readNewestRejections } from '../../streams/pipeline/newestRejections.ts';
import { shareInFile } from '../support/processes/lifetime.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';

const server = shareInFile(() => startNats());

/** Messages 3 to 140 of a stream, without 10, of two subjects in turn. */
async function startStream() {
  const nats = await connectTo(await server());
  await nats.jsm.streams.delete('MINER_COUNTER').catch(() => false);
  await nats.jsm.streams.add({ name: 'MINER_COUNTER', subjects: ['miner.counter.*'] });
  const publish = (index: number) =>
    nats.js.publish(`miner.counter.${index % 2 === 1 ? 'odd' : 'even'}`, `${index}`);
  for (let index = 1; index <= 140; index++) await publish(index);
  await nats.jsm.streams.purge('MINER_COUNTER', { seq: 3 });
  await nats.jsm.streams.deleteMessage('MINER_COUNTER', 10);
  const listConsumers = () => nats.jsm.consumers.list('MINER_COUNTER').next();
  return { ...nats, stream: 'MINER_COUNTER' as const, publish, listConsumers };
}

async function collect<Item extends { readonly seq: number }>(items: AsyncIterable<Item>, most = 1_000) {
  const sequences: number[] = [];
  for await (const { seq } of items) {
    sequences.push(seq);
    if (sequences.length === most) break;
  }
  return sequences;
}

it('a range reads one subject, and leaves no consumer', async () => {
  const nats = await startStream();
  const read = (fromSequence: number, messagesMax: number, most?: number) =>
    collect(readRange({ ...nats, subject: 'miner.counter.even', fromSequence, messagesMax }), most);
  expect([
    await read(1, 3),
    await read(8, 3),
    await read(9, 2),
    await read(138, 9),
    await read(141, 9),
  ]).toEqual([[4, 6, 8], [8, 12, 14], [12, 14], [138, 140], []]);
  // More than one request holds.
  expect(await read(1, 1_000)).toHaveLength(68);
  expect(await read(1, 1_000, 2)).toEqual([4, 6]);
  expect(await nats.listConsumers()).toEqual([]);
});

it('messages are found by time, and read downwards', async () => {
  const nats = await startStream();
  const { js, jsm, stream } = nats;
  const stored = await jsm.streams.getMessage(stream, { seq: 140 });
  const atMs = stored?.time.getTime() ?? 0;
  // Later than the last message, whatever the resolution of the clock.
  const found = [new Date(0), new Date(atMs + 60_000)].map((time) => findSequenceAt(js, stream, time));
  expect(await Promise.all(found)).toEqual([3, null]);
  expect(await nats.listConsumers()).toEqual([]);
  expect(await collect(readBackwards(jsm, stream, 12))).toEqual([12, 11, 9, 8, 7, 6, 5, 4, 3]);
});

it('rejections are listed from the oldest of the newest, by reason', async () => {
  const { js, jsm } = await connectTo(await server());
  await jsm.streams.add({ name: 'MINER_REJECTED', subjects: ['miner.rejected.*'] });
  const rejection = (sequence: number, reason: string) => ({
    ...{
      stream: 'MINER_COUNTER',
      streamCreated: '',
      sequence,
      storedAt: '',
      subject: '',
      reason,
      detail: '',
    },
    ...{ byteLength: 0, original: '', truncated: false },
  });
  const reject = (sequence: number, reason = 'malformed') =>
    js.publish('miner.rejected.MINER_COUNTER', JSON.stringify(rejection(sequence, reason)));
  expect(await readNewestRejections(jsm, { most: 2 })).toEqual({ rejections: [], end: 0, searched: 0 });
  await reject(1);
  await reject(2, 'duplicate');
  await reject(3, 'of a later version');
  await reject(4);
  await reject(5);
  const list = ({ rejections, end }: Awaited<ReturnType<typeof readLaterRejections>>) => [
    rejections.map(({ sequence }) => sequence),
    end,
  ];
  const newest = { most: 2 };
  expect([
    list(await readNewestRejections(jsm, newest)),
    list(await readNewestRejections(jsm, { ...newest, reason: 'duplicate' })),
    list(await readNewestRejections(jsm, { ...newest, most: 3 })),
    list(await readLaterRejections(jsm, 5)),
    list(await readLaterRejections(jsm, 1)),
  ]).toEqual([
    [[4, 5], 5],
    [[2], 5],
    [[2, 4, 5], 5],
    [[], 5],
    [[2, 4, 5], 5],
  ]);
  await jsm.streams.deleteMessage('MINER_REJECTED', 1);
  expect((await readNewestRejections(jsm, { ...newest, reason: 'out_of_order' })).searched).toBe(4);
});
