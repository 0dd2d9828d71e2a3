import { expect, it } from 'vitest';
import { countStored, hasReadings } from '../../storage/countStored.ts';
import { compareDays } from '../../storage/generationDifferences.ts';
import { findGenerations, noteGeneration, readGenerationIdentity } from '../../storage/generationIdentity.ts';
import { createEmpty } from '../../storage/generations.ts';
import { noteLineage } from '../../storage/lineages.ts';
import { createReplayLog } from '../../storage/replayLog.ts';
import { createSnapshotStore } from '../../storage/snapshots.ts';
import { findReadingBefore, readHalfHour } from '../../storage/storedHalfHour.ts';
import { readStreamsOfRows } from '../../storage/streamsOfRows.ts';
import { resolveTables } from '../../storage/tables.ts';
import { genesisMs } from '../support/genesis.ts';
import { shareInFile } from '../support/processes/lifetime.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { openTables } from '../support/storage/openTables.ts';
import { someLineage } from '../support/storage/someLineage.ts';
import { storeRows } from '../support/storage/storeRows.ts';

/** Each test has its own tables in it. */
const opened = shareInFile(() => openTables());
const halfHourMs = 1_800_000;

/** A reading of one installation, stored and observed some time after the genesis. */
const readingAt = (position: number, afterMs: number, installationId = 'one') =>
  acceptedReading({
    installationId,
    position,
    observedAtMs: genesisMs + afterMs,
    receivedAtMs: genesisMs + afterMs + 2,
  });
const round = (roundId: number, afterMs: number, position: number) =>
  ({ installationId: 'one', roundId, startMs: genesisMs + afterMs, workUnits: 1n, position }) as const;

it('rows are counted and found from their first position and time through their last', async () => {
  const { database, tables } = await opened();
  expect(await hasReadings(database, tables)).toBe(false);
  const readings = [
    readingAt(1, -1),
    readingAt(2, 0),
    readingAt(3, 10, 'two'),
    readingAt(4, halfHourMs - 1),
    readingAt(5, halfHourMs),
    // A clock that was set back.
    readingAt(6, 5),
  ];
  const rounds = [round(1, 0, 2), round(2, halfHourMs - 1, 4), round(3, halfHourMs, 5)];
  await storeRows(database, tables, { readings, rounds });
  // A repeated insert counts once.
  await storeRows(database, tables, { readings, rounds });
  expect(await hasReadings(database, tables)).toBe(true);
  const count = (firstPosition: number, throughPosition: number, oldestMs: number | null) =>
    countStored(database, tables, { firstPosition, throughPosition, oldestMs });
  expect([
    await count(1, 6, null),
    await count(2, 5, null),
    await count(1, 5, genesisMs + halfHourMs - 1),
    await count(1, 5, genesisMs + halfHourMs + 1),
  ]).toEqual([
    { readings: 6, rounds: 3 },
    { readings: 4, rounds: 3 },
    { readings: 2, rounds: 2 },
    { readings: 2, rounds: 0 },
  ]);
  const half = { installationId: 'one', startMs: genesisMs };
  const read = async (fromPosition: number, throughPosition: number) => {
    const found = await readHalfHour(database, tables, { ...half, fromPosition, throughPosition });
    return [found.readings.map(({ position }) => position), found.rounds.map(({ roundId }) => roundId)];
  };
  expect([await read(1, 6), await read(4, 5), await read(2, 2)]).toEqual([
    [
      [2, 4, 6],
      [1, 2],
    ],
    [[4], [1, 2]],
    [[2], [1, 2]],
  ]);
  const before = (sequence: number, afterMs: number) =>
    findReadingBefore(database, tables, {
      installationId: 'one',
      sequence,
      observedBeforeMs: genesisMs + afterMs,
    });
  expect([
    await before(7, 6),
    await before(6, 6),
    await before(7, 5),
    await before(2, 9),
    await before(1, 9),
  ]).toEqual([6, 2, 2, 1, null]);
});

it('days of two generations differ in their rows within the compared messages', async () => {
  const { database } = await opened();
  const [before, after] = [resolveTables(2), resolveTables(3)];
  for (const tables of [before, after]) await createEmpty(database, tables);
  const dayMs = 48 * halfHourMs;
  // From noon to noon.
  const readings = [
    readingAt(1, 0),
    readingAt(2, dayMs - 1),
    readingAt(3, dayMs),
    readingAt(4, dayMs, 'two'),
    // The same day, in two months.
    readingAt(5, 0, 'three'),
    readingAt(6, dayMs - 1, 'three'),
  ];
  await storeRows(database, before, { readings, rounds: [round(1, 0, 2)] });
  await storeRows(database, after, {
    readings: readings.slice(1).map((one) => (one.position % 4 > 1 ? one : { ...one, rpmMilli: 9 })),
  });
  const compare = async (fromSequence: number, throughSequence: number, installationId: string | null) =>
    (await compareDays(database, { before, after }, { fromSequence, throughSequence, installationId })).map(
      (one) => [
        one.installationId,
        (one.startMs - genesisMs) / dayMs,
        Object.values(one.before),
        Object.values(one.after),
      ],
    );
  const lost = ['one', 0, [2, 1, 0], [1, 0, 0]];
  const changed = ['two', 1, [1, 0, 0], [1, 0, 0]];
  expect([
    await compare(1, 4, null),
    await compare(1, 3, null),
    await compare(2, 4, 'two'),
    await compare(3, 4, 'one'),
    await compare(2, 2, null),
    await compare(5, 6, null),
  ]).toEqual([
    [lost, changed],
    [lost],
    [changed],
    [],
    [['one', 0, [1, 1, 0], [1, 0, 0]]],
    [['three', 0, [2, 0, 0], [2, 0, 0]]],
  ]);
});

it('the replay that is unfinished is the newest, until it has ended, is active or is forgotten', async () => {
  const { database } = await opened();
  let nowMs = 100;
  const log = createReplayLog(database, () => nowMs);
  const plan = (generation: number) => ({
    generation,
    baseGeneration: 1,
    command: `command ${generation}`,
    fromSequence: 1,
    throughSequence: 6,
    basePosition: null,
    installationId: null,
    dryRun: false,
    identity: { foldVersion: 1, configuration: '' },
  });
  const unfinished = async (active = 1) => {
    const found = await log.unfinished(active);
    return found && [found.plan.command, found.step];
  };
  expect([await unfinished(), await log.nextGeneration(1)]).toEqual([null, 2]);
  await log.note(plan(2), 'planned');
  expect([await unfinished(), await unfinished(2)]).toEqual([['command 2', 'planned'], null]);
  await log.note(plan(2), 'prepared');
  // A clock that was set back decides nothing.
  nowMs = 50;
  await log.note(plan(3), 'planned');
  expect([await unfinished(), await log.nextGeneration(1), await log.nextGeneration(7)]).toEqual([
    ['command 3', 'planned'],
    4,
    8,
  ]);
  await log.forget(plan(3));
  expect([await unfinished(), await log.nextGeneration(1)]).toEqual([['command 2', 'prepared'], 3]);
  await log.note(plan(2), 'ended');
  expect(await unfinished()).toBeNull();

  const ours = { foldVersion: 1, configuration: 'ours', streamCreated: 'then' };
  expect(await readGenerationIdentity(database, resolveTables(4))).toBeNull();
  await noteGeneration(database, { ...ours, generation: 4, atMs: 2 });
  await noteGeneration(database, { ...ours, foldVersion: 2, generation: 4, atMs: 1 });
  await noteGeneration(database, { ...ours, generation: 5, atMs: 1 });
  await noteGeneration(database, { ...ours, streamCreated: 'later', generation: 6, atMs: 1 });
  expect(await readGenerationIdentity(database, resolveTables(4))).toEqual(ours);
  expect([await findGenerations(database, ours), await log.nextGeneration(1)]).toEqual([[5, 4], 7]);
});

it('rows, snapshots and lineages name the streams that they were made from', async () => {
  const { database } = await opened();
  const tables = resolveTables(9);
  await createEmpty(database, tables);
  const origin = { foldVersion: 1, configuration: '', streamCreated: 'noted' };
  const readStreams = async () => Object.fromEntries(await readStreamsOfRows(database, tables));
  await storeRows(database, tables, { readings: [readingAt(1, 0)] });
  expect(await readStreams()).toEqual({});
  await noteGeneration(database, { ...origin, generation: 9, atMs: 1 });
  const snapshots = createSnapshotStore({ database, tables: () => tables });
  for (const [stream, streamCreated, position] of [
    ['MINER_COUNTER beside', 'one', 1],
    ['MINER_PIPELINE', 'one', 1],
    ['MINER_PIPELINE', 'two', 2],
  ] as const)
    await snapshots.save(
      { ...origin, run: '', stream, streamCreated, position, digest: null, takenAtMs: 0 },
      [],
    );
  expect(await readStreams()).toEqual({
    MINER_COUNTER: ['noted'],
    MINER_PIPELINE: expect.arrayContaining(['one', 'two']),
  });
  await noteLineage(database, someLineage, 0);
  await noteLineage(database, { ...someLineage, step: 2, streamCreated: 'later' }, 0);
  expect(await readStreams()).toMatchObject({ MINER_CHAIN: ['later'] });
});
