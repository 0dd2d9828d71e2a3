import { systemClock } from '../../../deploy/process/systemClock.ts';
import {
  createStreamFollower,
  type FollowerSinks,
  type StreamFollowerOptions,
} from '../../../streams/follower/streamFollower.ts';
import { createStreamVerifier } from '../../../streams/jetstream/proofs/streamVerifier.ts';
import { createMessageSource } from '../../../streams/jetstream/source/messageSource.ts';
import { runMember } from '../../../streams/operators/runMember.ts';
import { whenFinished } from '../processes/lifetime.ts';
import { connectTo, startNats, type TestConnection } from '../processes/natsServer.ts';
import { silentLogger } from '../silentLogger.ts';
import { type OpenTables, openTables } from '../storage/openTables.ts';
import { createRemovableStreams } from './removableStreams.ts';

export const followedStream = 'MINER_COUNTER';

/** Opens empty streams, and a database with empty tables. */
export async function prepareToFollow(): Promise<OpenTables & { readonly nats: TestConnection }> {
  const nats = await connectTo(await startNats());
  await createRemovableStreams(nats.jsm);
  return { nats, ...(await openTables()) };
}

/** Sinks that store nothing. */
export const emptySinks = (): FollowerSinks => ({
  writer: null,
  rejections: null,
  beginRun: async ({ choice, fault }) => fault !== null || choice.disagrees,
});

/** Runs a follower without a supervisor until the test has finished. It saves a snapshot only when it is stopped. */
export function createTestFollower(
  nats: TestConnection,
  options: Pick<StreamFollowerOptions, 'fold' | 'snapshots' | 'sinks'> & Partial<StreamFollowerOptions>,
) {
  const reader = { ...nats, stream: followedStream, clock: systemClock, logger: silentLogger } as const;
  const common = { ...reader, verifier: createStreamVerifier(reader) };
  const follower = createStreamFollower({
    ...common,
    source: createMessageSource(common),
    checkStreams: async () => undefined,
    policy: { intervalMs: 600_000, messages: 1_000_000 },
    lineage: { chooseFrom: async () => () => true, hasReplay: async () => false },
    ...options,
  });
  const running = runMember(follower.member);
  whenFinished(() => running.stop({ graceMs: 5_000 }));
  return Object.assign(follower, running);
}
