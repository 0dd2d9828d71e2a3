import { expect, it, vi } from 'vitest';
import { systemClock } from '../../deploy/process/systemClock.ts';
import {
  cutRuns,
  findLastRun,
  type Lineage,
  type LineageRuns,
  listLineages,
  noteLineage,
  openEnd,
  readLineage,
  selectRuns,
} from '../../storage/runs/lineages.ts';
import { dropReplay, listContinuable, offerReplay } from '../../storage/runs/replays.ts';
import { createSnapshotStore } from '../../storage/snapshots/snapshots.ts';
import { readings } from '../../storage/tables/readings.ts';
import { counterStream } from '../../streams/definitions/counterStream.ts';
import { createStreamVerifier, StreamDiverged } from '../../streams/jetstream/proofs/streamVerifier.ts';
import { type ReplayRunOptions, replayRun } from '../../streams/work/replayRun.ts';
import { genesisMs } from '../support/genesis.ts';
import { publishMany } from '../support/readings/readingMessages.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { someLineage } from '../support/storage/someLineage.ts';
import { createRemovableStreams } from '../support/streams/removableStreams.ts';
import { prepareToFollow } from '../support/streams/testFollower.ts';

const stream = 'MINER_COUNTER';
const deployment = { genesisTimestamp: genesisMs / 1000, installationId: 'wheel.one', installationsMax: 10 };
const { identity } = counterStream.createActors(deployment as never);

/** A stream with readings, and ways to fold it. */
async function prepare(count: number) {
  const { nats, database } = await prepareToFollow();
  await publishMany(nats.connection, 'wheel.one', 0, count);
  const { created: streamCreated } = await nats.jsm.streams.info(stream);
  const snapshots = createSnapshotStore(database);
  const nothing: Lineage = { ...someLineage, ...identity, stream, streamCreated, runs: [] };
  const replay = (from: Lineage, through: number, options: Partial<ReplayRunOptions> = {}) => {
    const common = { ...nats, stream, clock: systemClock, logger: silentLogger } as const;
    return replayRun({
      ...common,
      verifier: createStreamVerifier(common),
      actors: { MINER_COUNTER: counterStream.createActors(deployment as never) } as never,
      through,
      snapshots,
      database,
      from,
      signal: new AbortController().signal,
      ...options,
    });
  };
  /** A lineage that counts, with snapshots at positions, an hour apart. */
  const serve = async (...positions: number[]): Promise<Lineage> => {
    let lineage = nothing;
    for (const [at, position] of positions.entries()) {
      const nowMs = () => systemClock.nowMs() - (positions.length - at) * 3_600_000;
      const { filled } = await replay(lineage, position, { clock: { ...systemClock, nowMs } });
      lineage = { ...filled, cause: 'counts', reason: 'continued' };
      await noteLineage(database, lineage, 0);
    }
    return lineage;
  };
  /** Positions of the stored readings, each as often as it is stored. */
  const readPositions = async (runs: LineageRuns) => {
    const { sql, parameters } = selectRuns(runs);
    const rows = await database.select(
      `SELECT position FROM ${readings.name} WHERE ${sql} ORDER BY position`,
      parameters,
    );
    return rows.map(([position]) => Number(position));
  };
  const listPositions = async (run?: string) =>
    (await snapshots.list(stream))
      .filter((one) => (run ?? one.run) === one.run)
      .map(({ position }) => position);
  return { nats, database, snapshots, nothing, replay, serve, readPositions, listPositions };
}

const range = (from: number, through: number) =>
  Array.from({ length: through - from + 1 }, (_, at) => from + at);

const continueAt = (lineage: Lineage, position: number): Lineage => {
  const runs = cutRuns(lineage.runs, position);
  return { ...lineage, runs, continuedRun: runs.at(-1)?.run ?? '' };
};

it('a replay continues a lineage after its newest snapshot, in a run of its own that nobody reads', async () => {
  const { database, replay, serve, readPositions, listPositions } = await prepare(60);
  const lineage = await serve(20, 50);
  const { filled, isComplete, hasLost } = await replay(continueAt(lineage, 20), 60);
  expect({ isComplete, hasLost }).toEqual({ isComplete: true, hasLost: false });
  const own = filled.runs.at(-1)?.run ?? '';
  expect(filled).toMatchObject({
    cause: 'filling',
    continuedRun: lineage.runs[0]?.run,
    position: 20,
    runs: [{ ...lineage.runs[0], through: 20 }, { through: 60 }],
  });
  expect(lineage.runs.map(({ run }) => run)).not.toContain(own);
  expect(await readPositions([{ run: own, through: openEnd }])).toEqual(range(21, 60));
  expect(await readPositions(filled.runs)).toEqual(range(1, 60));
  expect(await listPositions(own)).toEqual([60]);
  expect((await readLineage(database, stream))?.runs).toEqual(lineage.runs);
});

it('a replay that was stopped leaves no trace in the next one', async () => {
  const { replay, nothing, readPositions } = await prepare(20);
  const stopping = new AbortController();
  stopping.abort();
  const { isComplete } = await replay(nothing, 20, { signal: stopping.signal });
  expect(isComplete).toBe(false);
  const { filled } = await replay(nothing, 20);
  expect(filled.runs).toHaveLength(1);
  expect(await readPositions(filled.runs)).toEqual(range(1, 20));
  // Nothing is left to fold.
  const { isComplete: isDone, hasLost } = await replay(continueAt(filled, 20), 20);
  expect({ isDone, hasLost }).toEqual({ isDone: true, hasLost: false });
});

it('a replay ends if the stream has lost its end, or was created again', async () => {
  const { nats, replay, nothing } = await prepare(6_000);
  const short = await replay(nothing, 6_001);
  expect([short.isComplete, short.hasLost]).toEqual([false, true]);
  const verifier = createStreamVerifier({ ...nats, stream, clock: systemClock });
  const verify = vi
    .fn(verifier.verify)
    .mockRejectedValueOnce(new StreamDiverged(stream, { reason: 'other_message_at_position', detail: '' }));
  const rewritten = await replay(nothing, 6_000, { verifier: { ...verifier, verify } });
  expect([rewritten.isComplete, rewritten.hasLost]).toEqual([false, true]);
  let isFirst = true;
  const recreate = async () => {
    await nats.jsm.streams.delete(stream);
    await createRemovableStreams(nats.jsm, [stream]);
    await publishMany(nats.connection, 'wheel.two', 0, 6_000);
  };
  const replaced = await replay(nothing, 6_000, {
    onFolded: () => {
      if (isFirst) void recreate();
      isFirst = false;
    },
  });
  expect([replaced.isComplete, replaced.hasLost]).toEqual([false, true]);
  // It was created again after the replay was planned.
  const planned = await replay(nothing, 5);
  expect([planned.isComplete, planned.hasLost]).toEqual([false, true]);
});

it('a replay removes no snapshot that a process which ingests may restore', async () => {
  const { replay, serve, nothing, database, listPositions } = await prepare(60);
  const lineage = await serve(10, 20, 30);
  const first = await replay(continueAt(lineage, 20), 50);
  await offerReplay(database, first.filled, { position: 50, nowMs: 0 });
  for (const through of [25, 35, 45]) await replay(nothing, through);
  expect(await listPositions()).toEqual(expect.arrayContaining([50, 30, 20, 10]));
});

it('rows and snapshots of a replay stay until it is dropped', async () => {
  const { database, replay, serve, readPositions, listPositions } = await prepare(20);
  const lineage = await serve(8);
  const { filled } = await replay(continueAt(lineage, 8), 15);
  const run = findLastRun(filled.runs);
  const isKept = async (of: string, position: number) =>
    (await listContinuable(database, stream)).some((isCounted) => isCounted({ run: of, position }));
  expect([await isKept(run, 15), await listPositions()]).toEqual([true, [15, 8]]);
  await dropReplay(database, filled);
  expect([await readPositions([{ run, through: openEnd }]), await listPositions()]).toEqual([[], [8]]);
  // What it continued counts.
  expect(await readPositions(lineage.runs)).toEqual(range(1, 8));
});

it('a long replay notes itself again, so that nobody takes it for left', async () => {
  const { database, replay, nothing } = await prepare(20);
  let nowMs = systemClock.nowMs();
  const { filled } = await replay(nothing, 20, {
    clock: { ...systemClock, nowMs: () => nowMs },
    // Before it saves its state.
    onFolded: () => {
      nowMs += 3_600_000;
    },
  });
  const [newest] = await database.select('SELECT count(), max(noted_at_ms) FROM lineages');
  expect(newest?.map(Number)).toEqual([2, nowMs]);
  const listed = await listLineages(database, stream, 'filling');
  expect(new Set(listed.map(({ runs }) => findLastRun(runs)))).toEqual(new Set([findLastRun(filled.runs)]));
});
