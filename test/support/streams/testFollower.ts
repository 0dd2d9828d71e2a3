import { systemClock } from '../../../deploy/process/systemClock.ts';
import { type Database, openDatabase } from '../../../storage/database.ts';
import { migrate } from '../../../storage/migrations.ts';
import type { Tables } from '../../../storage/tables.ts';
import {
  createStreamFollower,
  type FollowerSinks,
  type StreamFollower,
  type StreamFollowerOptions,
} from '../../../streams/follower/streamFollower.ts';
import { createMessageSource } from '../../../streams/jetstream/source/messageSource.ts';
import { type LoneMember, runAlone } from '../../../streams/operators/runAlone.ts';
import { whenFinished } from '../processes/lifetime.ts';
import { connectTo, startNats, type TestConnection } from '../processes/natsServer.ts';
import { temporaryDirectory } from '../processes/temporaryDirectory.ts';
import { silentLogger } from '../silentLogger.ts';
import { createRemovableStreams } from './removableStreams.ts';

export const followedStream = 'MINER_COUNTER';

/** Opens empty streams, and a database with empty tables. */
export async function prepareToFollow(): Promise<{
  readonly nats: TestConnection;
  readonly database: Database;
  readonly tables: Tables;
}> {
  const nats = await connectTo(await startNats());
  await createRemovableStreams(nats.jsm);
  const database = openDatabase({ path: temporaryDirectory() });
  whenFinished(() => database.close());
  return { nats, database, tables: await migrate(database, silentLogger) };
}

/** Sinks that only record removals. */
export function emptySinks(removedAbove: number[] = []): FollowerSinks {
  return {
    writer: null,
    rejections: null,
    resumeAfter: async () => undefined,
    removeAbove: async (position, deleteSnapshots) => {
      await deleteSnapshots();
      removedAbove.push(position);
    },
  };
}

/** Runs a follower without a supervisor. It saves a snapshot only when it is stopped. */
export function createTestFollower(
  nats: TestConnection,
  options: Pick<StreamFollowerOptions, 'fold' | 'snapshots' | 'sinks'> & Partial<StreamFollowerOptions>,
): StreamFollower & LoneMember {
  const common = { ...nats, stream: followedStream, clock: systemClock, logger: silentLogger } as const;
  const follower = createStreamFollower({
    ...common,
    source: createMessageSource(common),
    checkStreams: async () => undefined,
    policy: { intervalMs: 600_000, messages: 1_000_000 },
    ...options,
  });
  return Object.assign(follower, runAlone(follower.member));
}
