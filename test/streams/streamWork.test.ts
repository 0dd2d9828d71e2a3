import { Registry } from 'prom-client';
import { expect, it, vi } from 'vitest';
import type { EvictedSource } from '../../actors/pages/olderRows.ts';
import { systemClock } from '../../deploy/process/systemClock.ts';
import { type Lineage, noteLineage, openEnd } from '../../storage/runs/lineages.ts';
import { createSnapshotStore } from '../../storage/snapshots/snapshots.ts';
import type { EpochHolder } from '../../storage/tables/ingestEpochs.ts';
import { createStreamActors } from '../../streams/definitions/streamDefinitions.ts';
import { runMember } from '../../streams/operators/runMember.ts';
import { createMessageCounts } from '../../streams/pipeline/messageCounts.ts';
import { createStreamWork } from '../../streams/work/streamWork.ts';
import { writtenSettings } from '../support/chain/writtenSpans.ts';
import { collectLines } from '../support/collectLines.ts';
import { eventually } from '../support/processes/lifetime.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { someLineage } from '../support/storage/someLineage.ts';
import { createStreams } from '../support/streams/startStreams.ts';
import { prepareToFollow, followedStream as stream } from '../support/streams/testFollower.ts';

const deploymentId = 'wheel';

/** The followers of a process that ingests, or of a replica. */
async function open(
  writer: EpochHolder | null = { epoch: 1, holder: 'test' },
  { logger = silentLogger, prepared = prepareToFollow() } = {},
) {
  const { nats, database } = await prepared;
  const { contracts, ...chain } = writtenSettings;
  const deployment = { installationId: deploymentId, genesisTimestamp: 0, onChain: { chain, contracts } };
  const registry = new Registry();
  const actors = createStreamActors(deployment);
  const work = createStreamWork({
    ...nats,
    database,
    oldestReadingMs: () => null,
    actors,
    counts: createMessageCounts(registry),
    writer,
    checkStreams: async () => undefined,
    ensureStreams: () => createStreams(nats.jetStream),
    indexer: null,
    audit: null,
    policy: { intervalMs: 600_000, messages: 1_000 },
    clock: systemClock,
    logger,
    registry,
  });
  return { nats, database, identity: actors[stream].identity, ...work };
}

it('older events and activity are read once their writer stored them', async () => {
  const { writers, olderEvents, olderActivity } = await open();
  const flushed: string[] = [];
  for (const [name, writer] of writers)
    vi.spyOn(writer, 'flushNow').mockImplementation(() => flushed.push(name));
  const evicted = { through: { position: 5, ordinal: 0 }, throughMs: 0, atPosition: 5 };
  const query = { categories: [], place: null, limit: 1 };
  const find = (source: EvictedSource['source']) =>
    olderEvents.after({ source, evicted }, query, AbortSignal.abort()).catch(({ message }) => message);
  const missing = (source: string) => `ClickHouse does not hold the older ${source} events yet`;
  writers.get('MINER_CHAIN')?.resumeAfter(5);
  expect(await find('chain')).not.toBe(missing('chain'));
  expect(await find('measurement')).toBe(missing('measurement'));
  expect(flushed.splice(0)).toEqual(['MINER_COUNTER']);
  const range = { owner: '0x', from: 0, end: 1, throughPosition: 5 };
  const stopping = new AbortController();
  const refused = expect(olderActivity.read(range, stopping.signal)).rejects.toThrow();
  await eventually(() => flushed.length > 0, 'a flush');
  stopping.abort();
  await refused;
  expect(new Set(flushed)).toEqual(new Set(['MINER_CHAIN']));
});

it('a process has stored what its restored state covers', async () => {
  const prepared = prepareToFollow();
  const { nats } = await prepared;
  await nats.js.publish('miner.counter.wheel', 'no reading');
  // It is created again for the rejection.
  await nats.jsm.streams.delete('MINER_REJECTED');
  for (const epoch of [1, 2]) {
    const { followers, writers } = await open({ epoch, holder: 'test' }, { prepared });
    const follower = followers.get(stream) as NonNullable<ReturnType<typeof followers.get>>;
    const running = runMember(follower.member);
    await eventually(() => follower.isCurrent && writers.get(stream)?.storedThrough() === 1, 'the message');
    await running.stop({ graceMs: 60_000 });
    expect(follower.status().snapshotPosition).toBe(1);
  }
});

it('a replica restores its state again once a replay is continued', async () => {
  const { lines, logger } = collectLines('info');
  const { nats, database, identity, followers } = await open(null, { logger });
  const follower = followers.get(stream) as NonNullable<ReturnType<typeof followers.get>>;
  const snapshots = createSnapshotStore(database);
  const { created: streamCreated } = await nats.jsm.streams.info(stream);
  const place = { stream, streamCreated, position: 0, digest: null, takenAtMs: 0 } as const;
  for (const run of ['first', 'replay', 'cut'])
    await snapshots.save({ ...identity, ...place, run }, [], () => true);
  let step = 0;
  const note = (runs: readonly string[], change: Partial<Lineage> = {}) =>
    noteLineage(
      database,
      {
        ...{ ...someLineage, ...identity, stream, streamCreated, step: ++step, ...change },
        runs: runs.map((run) => ({ run, through: openEnd })),
      },
      step,
    );
  await note(['first']);
  const restored: string[] = [];
  const running = runMember(follower.member);
  await eventually(() => follower.isCurrent, 'the end of the stream');
  const takeReplay = async () => {
    lines.length = 0;
    await follower.takeReplay();
    await eventually(() => follower.isCurrent, 'the end of the stream');
    restored.push(lines.some(({ msg }) => msg === 'snapshot restored') ? 'restored' : 'kept');
  };
  await takeReplay();
  await note(['replay'], { cause: 'filled' });
  await takeReplay();
  await note(['replay', 'next'], { reason: 'replayed', continuedRun: 'replay' });
  await takeReplay();
  await takeReplay();
  expect(restored).toEqual(['kept', 'kept', 'restored', 'kept']);
  await running.stop({ graceMs: 5_000 });
});
