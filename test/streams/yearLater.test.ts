import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { formatRecord, type StateCapture } from '../../actors/foldRecord.ts';
import { type InputStreamName, oracleSubject } from '../../actors/messages/subjects.ts';
import { createSettlementActors } from '../../actors/settlement/settlementActors.ts';
import { createCounterActors } from '../../actors/wheel/counterActors.ts';
import { createRecentReadings } from '../../storage/recentReadings.ts';
import { createSnapshotStore } from '../../storage/snapshots.ts';
import { counterStream } from '../../streams/counter/counterStream.ts';
import { createMessageSource } from '../../streams/jetstream/source/messageSource.ts';
import { createMessageCounts } from '../../streams/pipeline/messageCounts.ts';
import type { StreamFold } from '../../streams/pipeline/streamFold.ts';
import { settlementStream } from '../../streams/settlement/settlementStream.ts';
import { genesisMs } from '../support/genesis.ts';
import { manualClock } from '../support/manualClock.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { readingMessage, toPublication } from '../support/readings/readingMessages.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { createTestFollower, emptySinks, prepareToFollow } from '../support/streams/testFollower.ts';

const yearMs = 365 * 86_400_000;
const streams = ['MINER_COUNTER', 'MINER_PIPELINE'] as const;

function closure(round: number) {
  const at = new Date(genesisMs + round * 600_000).toISOString();
  const rounds = [{ roundId: String(round), workUnits: '7' }];
  const [firstRound, lastRound] = [String(round), String(round)];
  return JSON.stringify({ type: 'closure_accepted', at, firstRound, lastRound, rounds, acceptedAt: at });
}

it('a year later the state is unchanged, although retention has removed all of its messages', async () => {
  const { nats, database, tables } = await prepareToFollow();
  const { js, jsm } = nats;
  const clock = manualClock();
  const snapshots = createSnapshotStore({ database, tables: () => tables, logger: silentLogger });

  /** A process that follows both streams. */
  function start() {
    const counters = createCounterActors({ genesisMs, publicInstallationId: 'wheel.one' });
    const pipeline = createSettlementActors();
    const registry = new Registry();
    const recent = createRecentReadings({ storedThrough: () => Number.MAX_SAFE_INTEGER });
    const dependencies = { recent, counts: createMessageCounts(registry), logger: silentLogger, registry };
    const follow = (stream: InputStreamName, fold: StreamFold) => {
      const source = createMessageSource({ ...nats, stream, clock, logger: silentLogger });
      return createTestFollower(nats, { stream, source, fold, snapshots, sinks: emptySinks(), clock });
    };
    const followers = [
      follow('MINER_COUNTER', counterStream.createFold(counters, dependencies)),
      follow('MINER_PIPELINE', settlementStream.createFold(pipeline, dependencies)),
    ];
    const list = ({ all }: StateCapture) => [...all()].map(formatRecord).sort();
    return {
      pipeline,
      reached: (positions: readonly number[]) =>
        eventually(
          () => followers.every((follower, at) => follower.status().position === positions[at]),
          `positions ${positions}`,
        ),
      missed: () => followers.map((follower) => follower.status().missedMessages),
      records: () => [list(counters.capture()), list(pipeline.capture())],
      stop: async () => {
        for (const follower of followers) await follower.stop({ graceMs: 5_000 });
      },
    };
  }

  for (let index = 0; index < 200; index++) {
    const { subject, body } = toPublication(readingMessage('wheel.one', index));
    await js.publish(subject, body);
  }
  for (let round = 1; round <= 3; round++) await js.publish(oracleSubject('wheel.one'), closure(round));
  await js.publish('miner.chain.1.span', '{}');
  const before = start();
  await before.reached([200, 3]);
  await before.stop();

  // Removes what a retention of one day removes.
  for (const stream of streams) await jsm.streams.purge(stream);
  clock.advance(yearMs);
  const after = start();
  await after.reached([200, 3]);
  expect(after.records()).toEqual(before.records());
  expect((await jsm.streams.info('MINER_CHAIN')).config.max_age).toBe(0);

  // It continues after the removed messages: storing the rows again changes nothing.
  const { subject, body } = toPublication(readingMessage('wheel.one', 200));
  await js.publish(subject, body);
  await js.publish(oracleSubject('wheel.one'), closure(3));
  await js.publish(oracleSubject('wheel.one'), closure(4));
  await after.reached([201, 5]);
  expect(
    after.pipeline
      .settlement('wheel.one')
      .closedRounds.map(({ roundId }) => roundId)
      .toArray(),
  ).toEqual([1n, 2n, 3n, 4n]);
  expect(after.missed()).toEqual([0, 0]);
  await after.stop();
});
