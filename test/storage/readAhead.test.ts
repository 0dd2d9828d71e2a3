import { expect, it } from 'vitest';
import { clientsAheadMax, createReadAhead } from '../../storage/reading/readAhead.ts';
import { openEnd } from '../../storage/runs/lineages.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';

const source = {
  runs: [
    { run: 'one', through: 50 },
    { run: 'two', through: openEnd },
  ],
  installationId: 'wheel-1',
};
const readings = Array.from({ length: 10 }, (_, at) =>
  acceptedReading({ position: (at + 1) * 10, receivedAtMs: at }),
);
const query = { ...source, after: 20, limit: 3, oldestMs: null };

function keepReadings() {
  const ahead = createReadAhead();
  ahead.keep({ ...source, after: 5, readings });
  return ahead;
}

it('a client that reads on gets the readings that follow', () => {
  const ahead = keepReadings();
  expect(ahead.find(query)).toEqual({ readings: readings.slice(2, 5), isContinued: true });
  expect(ahead.find({ ...query, after: 70 }).readings).toEqual(readings.slice(7));
  expect(ahead.find({ ...query, after: 5 }).readings).toEqual(readings.slice(0, 3));
  expect(ahead.find({ ...query, after: 80 })).toEqual({ readings: null, isContinued: true });
  expect(ahead.find({ ...query, after: 80 })).toEqual({ readings: null, isContinued: false });
});

it.each([
  ['another installation', { installationId: 'wheel-2' }],
  ['a place before them', { after: 4 }],
  ['a place behind them', { after: 101 }],
])('readings are not used for %s', (_, change) => {
  expect(keepReadings().find({ ...query, ...change })).toEqual({ readings: null, isContinued: false });
});

it.each([
  [
    'a run has been begun',
    [
      { run: 'one', through: 50 },
      { run: 'two', through: 90 },
      { run: 'three', through: openEnd },
    ],
  ],
  [
    'a run has been cut',
    [
      { run: 'one', through: 40 },
      { run: 'two', through: openEnd },
    ],
  ],
  [
    'a run has been made again',
    [
      { run: 'other', through: 50 },
      { run: 'two', through: openEnd },
    ],
  ],
  ['none counts', []],
])('readings are not used once %s, and are forgotten', (_, runs) => {
  const ahead = keepReadings();
  expect(ahead.find({ ...query, runs }).readings).toBeNull();
  expect(ahead.find(query)).toEqual({ readings: null, isContinued: false });
});

it('readings are used if the history was read again and is the same', () => {
  const runs = source.runs.map((run) => ({ ...run }));
  expect(keepReadings().find({ ...query, runs }).readings).toEqual(readings.slice(2, 5));
});

it('readings that are too old by now are read again', () => {
  expect(keepReadings().find({ ...query, oldestMs: 2 }).readings).toEqual(readings.slice(2, 5));
  expect(keepReadings().find({ ...query, oldestMs: 3 })).toEqual({ readings: null, isContinued: true });
});

it('the client that has not read for longest is forgotten', () => {
  const ahead = keepReadings();
  const keepOther = (number: number) =>
    ahead.keep({ ...source, installationId: `other-${number}`, after: 5, readings });
  for (let number = 1; number < clientsAheadMax; number++) keepOther(number);
  expect(ahead.find(query).readings).not.toBeNull();
  keepOther(clientsAheadMax);
  expect(ahead.find(query).readings).not.toBeNull();
  expect(ahead.find({ ...query, installationId: 'other-1' }).readings).toBeNull();
});
