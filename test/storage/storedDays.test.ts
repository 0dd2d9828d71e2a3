import { expect, it } from 'vitest';
import { withReading } from '../../actors/wheel/dayHistory.ts';
import { createStoredDays } from '../../storage/reading/storedDays.ts';
import { openEnd } from '../../storage/runs/lineages.ts';
import { genesisMs } from '../support/genesis.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { openTables, storeRows, useBothLocations } from '../support/storage/openTables.ts';

const dayMs = 86_400_000;
const roundMs = 600_000;
const installationId = 'wheel-1';
const neverAborted = new AbortController().signal;
const locations = useBothLocations();

/** Rounds of a day from a place in it on, with the work `work`. */
const buildRounds = (startMs: number, places: readonly number[], work: bigint, position: number) =>
  places.map((place, at) => ({
    installationId,
    roundId: (startMs - genesisMs) / roundMs + place + 1,
    startMs: startMs + place * roundMs,
    workUnits: work,
    position: position + at,
  }));

it.each(locations)('days are read from the rows that count, of any age: %s', async (_, locate) => {
  const { database } = await openTables(await locate());
  const startMs = genesisMs + 3 * dayMs;
  await storeRows(database, { rounds: buildRounds(startMs, [0, 1, 2, 143], 5n, 1) }, 'first');
  // Sent twice, next to other days, another wheel, and a run that does not count.
  const ofSecond = [
    ...buildRounds(startMs, [2, 70], 7n, 11),
    ...buildRounds(startMs - dayMs, [143], 1n, 21),
    ...buildRounds(startMs + dayMs, [0], 1n, 31),
    ...buildRounds(startMs, [100], 1n, 41).map((row) => ({ ...row, installationId: 'another' })),
  ];
  for (let time = 0; time < 2; time++) await storeRows(database, { rounds: ofSecond }, 'second');
  await storeRows(database, { rounds: buildRounds(startMs, [50], 9n, 51) }, 'other');
  let runs = [
    { run: 'first', through: 10 },
    { run: 'second', through: openEnd },
  ];
  const read = createStoredDays({ database, readRuns: async () => runs });
  const readDay = async (fromMs = startMs, observed = 0) =>
    [...(await read(installationId, { startMs: fromMs, observed }, neverAborted))].sort(([a], [b]) => a - b);
  const expected = [
    [0, 5n],
    [1, 5n],
    [2, 7n],
    [70, 7n],
    [143, 5n],
  ];
  // Memory may know of more rounds than are stored by now.
  await expect(readDay(startMs, 6)).rejects.toThrow(
    'ClickHouse holds 5 of 6 rounds of 2026-02-03; `miner replay`',
  );
  expect(await readDay(startMs, 5)).toEqual(expected);
  expect(await readDay(startMs + 9 * dayMs)).toEqual([]);
  expect([...(await read('another', { startMs, observed: 0 }, neverAborted))]).toEqual([[100, 1n]]);
  // What was read is kept, until another lineage counts.
  await storeRows(database, { rounds: buildRounds(startMs, [3], 1n, 61) }, 'second');
  expect(await readDay(startMs, 5)).toEqual(expected);
  // Readings that a gateway sends after a month close further rounds of an old day.
  expect(await readDay(startMs, 6)).toHaveLength(6);
  runs = [...runs.slice(0, 1)];
  expect(await readDay()).toEqual([
    [0, 5n],
    [1, 5n],
    [2, 5n],
    [143, 5n],
  ]);
});

it('pages and files of old days have half hours from rows', async () => {
  const { database } = await openTables();
  const startMs = Date.UTC(2026, 2, 10, 12);
  await storeRows(database, { rounds: buildRounds(startMs, [0, 1, 2, 5], 4n, 1) }, 'run');
  const first = acceptedReading({ observedAtMs: startMs, distanceMm: 1_234 });
  // Memory keeps the sums of a day, also after more than a year of later days.
  const history = Array.from({ length: 500 }, (_, day) =>
    acceptedReading({ observedAtMs: startMs + (day + 1) * dayMs }),
  ).reduce((before, reading) => withReading(before, reading, null), withReading(null, first, null));
  const server = await startPublicServer({
    history: () => history,
    olderDay: createStoredDays({
      database,
      readRuns: async () => [{ run: 'run', through: openEnd }],
    }),
  });
  server.clock.advance(500 * dayMs);
  const date = '2026-03-10';
  const read = async (path: string) => {
    const response = await server.get(path);
    return [response.status, await response.text()] as const;
  };
  const before = await read(`/tables/half-hours.csv?date=${date}`);
  expect(before).toEqual([200, expect.stringContaining('2026-03-10T12:00:00Z,2026-03-10T12:30:00Z,12,')]);
  expect(before[1]).toContain('2026-03-10T12:30:00Z,2026-03-10T13:00:00Z,4,');
  const [status, html] = await read(`/days/${date}`);
  expect(status).toBe(200);
  expect(html).toMatch(/<span class="value">16<span class="unit">\sunits</);
  expect(html).toContain('4 of 144 rounds observed');
  expect(JSON.parse((await read(`/v1/days/${date}`))[1])).toMatchObject({ day: { distanceMm: '1234' } });
  expect((await read('/tables/half-hours.csv?date=2025-03-10'))[0]).toBe(404);
  expect((await read('/tables/half-hours.csv?date=x'))[0]).toBe(404);
});
