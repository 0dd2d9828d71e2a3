import { expect, it, vi } from 'vitest';
import { readBackwards } from '../../streams/jetstream/readBackwards.ts';
import { readNewestRejections } from '../../streams/pipeline/newestRejections.ts';
import { shareInFile } from '../support/processes/lifetime.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';

const server = shareInFile(() => startNats());

/** Messages 3 to 140 of a stream, without 10. */
async function startStream() {
  const nats = await connectTo(await server());
  await nats.jsm.streams.delete('MINER_COUNTER').catch(() => false);
  await nats.jsm.streams.add({ name: 'MINER_COUNTER', subjects: ['miner.counter.*'] });
  for (let index = 1; index <= 140; index++) await nats.js.publish('miner.counter.one', `${index}`);
  await nats.jsm.streams.purge('MINER_COUNTER', { seq: 3 });
  await nats.jsm.streams.deleteMessage('MINER_COUNTER', 10);
  return { ...nats, stream: 'MINER_COUNTER' as const };
}

async function collect<Item extends { readonly seq: number }>(items: AsyncIterable<Item>, most = 1_000) {
  const sequences: number[] = [];
  for await (const { seq } of items) {
    sequences.push(seq);
    if (sequences.length === most) break;
  }
  return sequences;
}

it('messages are read downwards, and none is asked for below the first one', async () => {
  const { jetStream, stream } = await startStream();
  const message = vi.fn(jetStream.message);
  const read = await collect(readBackwards({ ...jetStream, message }, stream, 12));
  expect(read).toEqual([12, 11, 9, 8, 7, 6, 5, 4, 3]);
  expect(message).toHaveBeenCalledTimes(10);
});

it('rejections are listed from the oldest of the newest, by reason', async () => {
  const { js, jsm, jetStream } = await connectTo(await server());
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
  expect(await readNewestRejections(jetStream, { most: 2 })).toEqual({ rejections: [], searched: 0 });
  await reject(1);
  await reject(2, 'duplicate');
  await reject(3, 'of a later version');
  await reject(4);
  await reject(5);
  const list = ({ rejections }: Awaited<ReturnType<typeof readNewestRejections>>) =>
    rejections.map(({ sequence }) => sequence);
  const newest = { most: 2 };
  expect([
    list(await readNewestRejections(jetStream, newest)),
    list(await readNewestRejections(jetStream, { ...newest, reason: 'duplicate' })),
    list(await readNewestRejections(jetStream, { ...newest, most: 3 })),
  ]).toEqual([[4, 5], [2], [2, 4, 5]]);
  await jsm.streams.deleteMessage('MINER_REJECTED', 1);
  expect((await readNewestRejections(jetStream, { ...newest, reason: 'out_of_order' })).searched).toBe(4);
});
