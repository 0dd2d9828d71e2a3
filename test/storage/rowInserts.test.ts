import { expect, it } from 'vitest';
import { buildInserts, encodeRows } from '../../storage/rows/rowInserts.ts';
import { noRows } from '../../storage/tables/foldedRows.ts';
import { rounds } from '../../storage/tables/rounds.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';

/** Periods of 30 days: an insert may have rows of fifty. */
const buildRounds = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => ({
    installationId: 'wheel-1',
    roundId: from + at,
    startMs: (from + at) * 2_592_000_000,
    workUnits: 1n,
    position: from + at,
  }));

const encode = (from: number, count: number, throughPosition = 0) =>
  encodeRows({ ...noRows, rounds: buildRounds(from, count), throughPosition }, 'run');

const insertRounds = (...pieces: readonly (readonly [from: number, count: number])[]) =>
  pieces.map(([from, count]) => rounds.encode(buildRounds(from, count), { run: 'run' }));

it('rows are encoded in order, and counted', () => {
  const readings = [acceptedReading(), acceptedReading({ position: 2 })];
  const encoded = encodeRows({ ...noRows, rounds: buildRounds(1, 120), readings, throughPosition: 9 }, 'run');
  const inserts = buildInserts([encoded]);
  expect(inserts.map(({ table, rowCount }) => [table, rowCount])).toEqual([
    ['stored_rounds', 50],
    ['stored_rounds', 50],
    ['stored_rounds', 20],
    ['stored_readings', 2],
  ]);
  expect(inserts.slice(0, 3).map(({ blocks }) => blocks)).toEqual(insertRounds([1, 50], [51, 50], [101, 20]));
  expect([encoded.rowCount, encoded.throughPosition, encoded.byteLength]).toEqual([
    122,
    9,
    inserts.reduce((sum, { blocks }) => sum + blocks.length, 0),
  ]);
});

it('pieces share an insert while their rows are of fifty periods or fewer', () => {
  const count = (...pieces: Parameters<typeof encode>[]) =>
    buildInserts(pieces.map((piece) => encode(...piece))).map(({ rowCount }) => rowCount);
  expect(count([1, 30], [31, 20])).toEqual([50]);
  expect(count([1, 30], [31, 21], [52, 29])).toEqual([30, 50]);
  expect(count([1, 50], [1, 50])).toEqual([100]);
  const [both] = buildInserts([encode(1, 2), encode(3, 1)]);
  expect(both?.blocks).toEqual(Buffer.concat(insertRounds([1, 2], [3, 1])));
  expect(buildInserts([encode(1, 0)])).toEqual([]);
});
