import { expect, it } from 'vitest';
import { createStreamVerifier } from '../../streams/jetstream/proofs/streamVerifier.ts';
import { NotProven } from '../../streams/jetstream/proofs/suspicions.ts';
import { describeStream } from '../../streams/nats/jetStreamPort.ts';
import { manualClock } from '../support/manualClock.ts';
import { streamInfo } from '../support/streams/streamInfo.ts';

/** Verifies a stream from message 5 through 9, of which it returns none. */
function verify(info: Parameters<typeof streamInfo>[0] = {}) {
  const jetStream = {
    info: async () => streamInfo({ firstSequence: 5, lastSequence: 9, ...info }),
    message: async () => null,
  };
  return createStreamVerifier({ jetStream, stream: 'MINER_COUNTER', clock: manualClock() });
}

it('a missing message contradicts a stream position from the first sequence of the stream on', async () => {
  const streamPosition = { streamCreated: 'then', position: 4, digest: 'of a message' };
  expect(await verify().verify(streamPosition)).toMatchObject({ stored: null });
  await expect(verify().verify({ ...streamPosition, position: 5 })).rejects.toThrow(NotProven);
});

it('a stream has lost its end if it ends before a message with rows', async () => {
  expect(await verify().hasLostEnd(9)).toBe(false);
  await expect(verify().hasLostEnd(10)).rejects.toThrow(NotProven);
});

it('messages below the first one were removed, and no others', async () => {
  const verifier = verify();
  const place = { streamCreated: 'then', position: 3, digest: null };
  const find = async (position: number) => verifier.findRemoved(await verifier.ask(), { ...place, position });
  await expect(find(3)).rejects.toThrow(NotProven);
  expect([await find(3), await find(4)]).toEqual([4, null]);
  const explain = (toSequence: number) => verifier.explainGap({ fromSequence: 2, toSequence });
  await expect(explain(4)).rejects.toThrow(NotProven);
  expect([await explain(4), await explain(5)]).toEqual(['removed', null]);
});

it('a stream that is moved is on more servers than its settings say', () => {
  const cluster = { name: 'c', replicas: [{ name: 'two', current: false }] };
  const describe = (num_replicas: number) =>
    describeStream({ config: { num_replicas, max_msg_size: -1 }, state: {}, cluster } as never, {});
  expect([1, 3].map((set) => describe(set).replicas)).toEqual([2, 3]);
});

it('a replicated stream says nothing while it has no leader', async () => {
  const cluster = { name: 'c', leader: null, peers: [] };
  await expect(verify({ cluster, replicas: 2 }).ask()).rejects.toThrow('has no leader');
  expect(await verify({ cluster }).ask()).toMatchObject({ info: { replicas: 1 } });
});
