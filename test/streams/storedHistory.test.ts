import { expect, it } from 'vitest';
import { isHistoryReplaced } from '../../streams/follower/storedHistory.ts';
import { prepareToFollow, followedStream as stream } from '../support/streams/testFollower.ts';

it('is replaced if a row above the restored state names a deleted message, unless retention removed it', async () => {
  const { nats, database } = await prepareToFollow();
  for (let number = 0; number < 3; number++) await nats.js.publish('miner.counter.wheel', 'message');
  await nats.jsm.streams.deleteMessage(stream, 2);
  const isReplaced = (foldedThrough: number) =>
    isHistoryReplaced({
      database,
      jsm: nats.jsm,
      stream,
      readOrigins: async () => [{ position: 2, isMessage: () => true }],
      foldedThrough,
    });
  expect(await isReplaced(1)).toBe(true);
  expect(await isReplaced(2)).toBe(false);
  await nats.jsm.streams.purge(stream, { seq: 3 });
  expect(await isReplaced(1)).toBe(false);
});
