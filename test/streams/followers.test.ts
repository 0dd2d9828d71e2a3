import { Registry } from 'prom-client';
import { expect, it, vi } from 'vitest';
import type { EvictedSource } from '../../actors/feed/olderEvents.ts';
import { systemClock } from '../../deploy/process/systemClock.ts';
import { createEmpty } from '../../storage/generations.ts';
import { createSnapshotStore } from '../../storage/snapshots.ts';
import { resolveTables } from '../../storage/tables.ts';
import { createFollowers } from '../../streams/followers.ts';
import { runAlone } from '../../streams/operators/runAlone.ts';
import { createMessageCounts } from '../../streams/pipeline/messageCounts.ts';
import { createStreamActors } from '../../streams/streamDefinitions.ts';
import { writtenSettings } from '../support/chain/writtenSpans.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { storeRows } from '../support/storage/storeRows.ts';
import { createStreams } from '../support/streams/startStreams.ts';
import { prepareToFollow, followedStream as stream } from '../support/streams/testFollower.ts';

/** The followers of a process that rebuilds the tables of generation 1 in generation 2. */
async function rebuild() {
  const { nats, database, tables: active } = await prepareToFollow();
  const tables = resolveTables(2);
  await createEmpty(database, tables);
  const { contracts, ...chain } = writtenSettings;
  const deployment = { installationId: 'wheel', genesisTimestamp: 0, onChain: { chain, contracts } };
  const registry = new Registry();
  const reported = vi.fn();
  const followers = createFollowers({
    ...nats,
    database,
    tables: () => tables,
    storedTables: () => active,
    useGeneration: () => undefined,
    oldestRowMs: () => null,
    actors: createStreamActors(deployment),
    counts: createMessageCounts(registry),
    writer: { epoch: 1, holder: 'test' },
    checkStreams: async () => undefined,
    ensureStreams: () => createStreams(nats.jsm),
    onReadingsSaved: reported,
    policy: { intervalMs: 600_000, messages: 1_000 },
    clock: systemClock,
    logger: silentLogger,
    registry,
  });
  return { nats, database, active, tables, reported, ...followers };
}

it('older events and activity are read once the writer of their own stream has stored them', async () => {
  const { writers, olderEvents, olderActivity } = await rebuild();
  const flushed: string[] = [];
  for (const [name, writer] of writers)
    vi.spyOn(writer, 'flushNow').mockImplementation(() => flushed.push(name));
  const evicted = { through: { position: 5, ordinal: 0 }, throughMs: 0, atPosition: 5 };
  const find = (source: EvictedSource['source']) =>
    olderEvents.find({ source, run: '', evicted }, 'id', AbortSignal.abort()).catch(({ message }) => message);
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

it('a follower removes rows of a lost stream only from the tables that it fills, has missing streams created again, and reports saved readings alone', async () => {
  const { nats, database, active, tables, reported, followers, recent } = await rebuild();
  const settled = followers.get('MINER_PIPELINE');
  const other = runAlone((settled as NonNullable<typeof settled>).member);
  await nats.js.publish('miner.reporter.wheel', 'no report');
  await eventually(() => settled?.isCurrent && settled.status().position === 1, 'the other stream');
  await other.stop({ graceMs: 60_000 });
  expect([settled?.status().snapshotPosition, reported.mock.calls]).toEqual([1, []]);
  const snapshots = createSnapshotStore({ database, tables: () => tables });
  const { member } = followers.get(stream) as NonNullable<ReturnType<typeof followers.get>>;
  const header = {
    stream,
    run: '',
    streamCreated: 'before',
    position: 9,
    digest: null,
    takenAtMs: 0,
  } as const;
  const { identity } = createStreamActors({ installationId: 'wheel', genesisTimestamp: 0, onChain: null })[
    stream
  ];
  await snapshots.save({ ...identity, ...header }, []);
  for (const filled of [active, tables])
    await storeRows(database, filled, { readings: [acceptedReading({ position: 9 })] });
  await nats.jsm.streams.delete(stream);
  const follower = runAlone(member);
  await eventually(() => nats.jsm.streams.info(stream).catch(() => null), 'the stream to be created again');
  await nats.jsm.streams.delete('MINER_REJECTED');
  await nats.js.publish('miner.counter.wheel', 'no reading');
  await eventually(() => followers.get(stream)?.isCurrent, 'the end of the stream');
  await follower.stop({ graceMs: 60_000 });
  const count = async ({ readings }: typeof tables) =>
    Number((await database.select(`SELECT count() FROM ${readings}`))[0]?.[0]);
  expect([await count(active), await count(tables), reported.mock.calls, recent.size]).toEqual([
    1,
    0,
    [[]],
    0,
  ]);
});
