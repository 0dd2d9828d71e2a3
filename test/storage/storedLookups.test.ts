import { expect, it } from 'vitest';
import type { BucketRow } from '../../actors/wheel/roundFold.ts';
import { findFirstReading, findReadingBefore, readHalfHour } from '../../storage/reading/storedHalfHour.ts';
import { compareDays, sumDayWorkUnits } from '../../storage/rows/historyDifferences.ts';
import { compareTable, countLaterRows, countRows } from '../../storage/rows/tableDifferences.ts';
import { noteLineage, openEnd, readNewestLineages, selectVisible } from '../../storage/runs/lineages.ts';
import { rowTables } from '../../storage/tables/rowTables.ts';
import { genesisMs } from '../support/genesis.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { openTables } from '../support/storage/openTables.ts';
import { someLineage } from '../support/storage/someLineage.ts';
import { someRows } from '../support/storage/someRows.ts';
import { storedRows } from '../support/storage/storedRows.ts';
import { storeRows } from '../support/storage/storeRows.ts';

const halfHourMs = 1_800_000;
const [someBucket] = storedRows(60, 1).buckets as [BucketRow];

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
  const { database } = await openTables();
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
  const bucket = { ...someBucket, installationId: 'one', startMs: genesisMs, position: 4 };
  const runs = [
    { run: 'first', through: 3 },
    { run: 'second', through: openEnd },
  ];
  expect(await findFirstReading(database, runs, 'one')).toBeNull();
  const ofRun = (isIn: (position: number) => boolean) => ({
    readings: readings.filter(({ position }) => isIn(position)),
    rounds: rounds.filter(({ position }) => isIn(position)),
  });
  await storeRows(
    database,
    ofRun((position) => position <= 3),
    'first',
  );
  // A repeated insert counts once.
  for (let time = 0; time < 2; time++)
    await storeRows(database, { ...ofRun((position) => position > 3), buckets: [bucket] }, 'second');
  // What does not count: above the end of its run, and of a run that the history does not name.
  for (const run of ['first', 'other'])
    await storeRows(
      database,
      {
        readings: [0, 1, 2].map((at) => readingAt(at + (run === 'first' ? 4 : 1), at)),
        rounds: [round(9, 0, 4)],
        buckets: run === 'first' ? [] : [{ ...bucket, workUnits: 9n, position: 5 }],
      },
      run,
    );
  const count = (table: string) => countRows(database, table, selectVisible(runs));
  expect(
    await Promise.all(['stored_readings', 'stored_rounds', 'stored_half_hour_buckets'].map(count)),
  ).toEqual([6, 3, 1]);
  const half = { installationId: 'one', startMs: genesisMs };
  const read = async (fromPosition: number, throughPosition: number) => {
    const found = await readHalfHour(database, runs, { ...half, fromPosition, throughPosition });
    expect(found.bucket?.workUnits).toBe(bucket.workUnits);
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
    findReadingBefore(database, runs, {
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
  expect([
    await findFirstReading(database, runs, 'one'),
    await findFirstReading(database, runs, 'two'),
    await findFirstReading(database, runs, 'three'),
  ]).toEqual([1, 3, null]);
});

it('days of two histories differ in their rows within the compared messages', async () => {
  const { database } = await openTables();
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
  await storeRows(database, { readings, rounds: [round(1, 0, 2)] }, 'before');
  // The second history shares the first reading of `three`, and has made the rest again.
  const again = readings.slice(1).map((one) => (one.position % 4 > 1 ? one : { ...one, rpmMilli: 9 }));
  await storeRows(database, { readings: again }, 'after');
  await storeRows(database, { readings: [readingAt(1, 0, 'two')] }, 'unnamed');
  const histories = {
    before: [{ run: 'before', through: openEnd }],
    after: [{ run: 'after', through: openEnd }],
  };
  const compare = async (fromSequence: number, throughSequence: number) =>
    (await compareDays(database, histories, { fromSequence, throughSequence })).map((one) => [
      one.installationId,
      (one.startMs - genesisMs) / dayMs,
      Object.values(one.before),
      Object.values(one.after),
    ]);
  const lost = ['one', 0, [2, 1, 0, 0], [1, 0, 0, 0]];
  const changed = ['two', 1, [1, 0, 0, 0], [1, 0, 0, 0]];
  expect([
    await compare(1, 4),
    await compare(1, 3),
    await compare(3, 3),
    await compare(2, 2),
    await compare(5, 6),
  ]).toEqual([
    [lost, changed],
    [lost],
    [],
    [['one', 0, [1, 1, 0, 0], [1, 0, 0, 0]]],
    [['three', 0, [2, 0, 0, 0], [2, 0, 0, 0]]],
  ]);
  const event = { ...someRows.event, installationId: 'one', recordedAtMs: genesisMs, storedBy: 9 };
  await storeRows(database, { measurementEvents: [event] }, 'before');
  await storeRows(database, { measurementEvents: [{ ...event, event: '{"changed":1}' }] }, 'after');
  expect(await compare(9, 9)).toEqual([['one', 0, [0, 0, 0, 1], [0, 0, 0, 1]]]);
  const day = { installationId: 'one', startMs: genesisMs };
  expect([
    await sumDayWorkUnits(database, histories.before, day),
    await sumDayWorkUnits(database, histories.after, day),
  ]).toEqual([1n, 0n]);
  await storeRows(database, { rounds: [{ ...round(2, 1, 3), workUnits: 2n ** 256n }] }, 'before');
  expect(await sumDayWorkUnits(database, histories.before, day)).toBeNull();
});

it('a table differs from what a fold makes in the rows that count', async () => {
  const { database } = await openTables();
  const rowsOf = (numbers: readonly number[], speedMmPerSecond = 0) => ({
    readings: numbers.map((position) => ({ ...readingAt(position, position), speedMmPerSecond })),
  });
  await storeRows(database, rowsOf([1, 2, 3, 4, 5]), 'first stored');
  await storeRows(database, rowsOf([4]), 'stored');
  await storeRows(database, rowsOf([5], 7), 'stored');
  await storeRows(database, rowsOf([7, 9]), 'stored');
  await storeRows(database, rowsOf([2, 3, 4]), 'first folded');
  await storeRows(database, rowsOf([4, 5, 6, 9]), 'folded');
  const table = rowTables.find(({ definition }) => definition.name === 'stored_readings');
  if (table === undefined) throw new Error('no table of readings');
  const stored = [
    { run: 'first stored', through: 3 },
    { run: 'stored', through: openEnd },
  ];
  const folded = [
    { run: 'first folded', through: 3 },
    { run: 'folded', through: openEnd },
  ];
  const compare = (after: number, through: number) =>
    compareTable(database, table, { stored, folded, after, through, goneBeforeMs: null });
  // A changed row, one that no message makes, and one that was not stored.
  expect(await compare(1, 8)).toEqual({
    table: 'stored_readings',
    rows: 5,
    foreign: 2,
    missing: 2,
    firstMessage: 5,
  });
  expect(await compare(1, 4)).toMatchObject({ rows: 3, foreign: 0, missing: 0, firstMessage: null });
  expect(await compare(0, 4)).toMatchObject({ foreign: 1, missing: 0, firstMessage: 1 });
  expect(await countLaterRows(database, table, { stored, through: 4 })).toBe(3);
});

it('histories name the streams that they were made from', async () => {
  const { database } = await openTables();
  const readStreams = async () =>
    Object.fromEntries((await readNewestLineages(database)).map((one) => [one.stream, one.streamCreated]));
  expect(await readStreams()).toEqual({});
  await storeRows(database, { readings: [readingAt(1, 0)] });
  await noteLineage(database, { ...someLineage, stream: 'MINER_COUNTER', cause: 'filled' }, 0);
  // What a replay has noted decides nothing.
  expect(await readStreams()).toEqual({});
  await noteLineage(database, { ...someLineage, stream: 'MINER_PIPELINE' }, 0);
  await noteLineage(database, someLineage, 0);
  await noteLineage(database, { ...someLineage, step: 2, streamCreated: 'later' }, 0);
  expect(await readStreams()).toEqual({ MINER_PIPELINE: 'now', MINER_CHAIN: 'later' });
});
