import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../storage/clickhouse/database.ts';
import { insertRows } from '../../storage/definition/table.ts';
import {
  type Lineage,
  noteLineage,
  openEnd,
  readContinued,
  readLineage,
} from '../../storage/runs/lineages.ts';
import { dropRetiredRuns, retainedMs } from '../../storage/runs/retiredRuns.ts';
import { foldStates } from '../../storage/tables/foldStates.ts';
import { rowTables } from '../../storage/tables/rowTables.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { openTables, storeRows } from '../support/storage/openTables.ts';
import { storedRows } from '../support/storage/readingRows.ts';
import { someLineage } from '../support/storage/someLineage.ts';
import { someRows } from '../support/storage/someRows.ts';

const hourMs = 3_600_000;
const startMs = 100 * retainedMs;

/** Rows in every table, and a snapshot. */
async function storeRun(database: Database, run: string): Promise<void> {
  const { claim, event } = someRows;
  const rows = {
    ...storedRows(1, 120),
    measurementEvents: [event],
    chainEvents: [{ ...event, category: 'players', installationId: '' }],
    ownerActivity: [claim],
  } as const;
  await storeRows(database, rows, run);
  const header = { ...someLineage, run, digest: null, takenAtMs: 1, snapshot: run, checksum: '' };
  await insertRows(database, foldStates, [{ ...header, chunk: 0, payload: '' }]);
}

async function listRuns(database: Database): Promise<string[][]> {
  const lists = [];
  for (const { name } of [...rowTables.map(({ definition }) => definition), foldStates])
    lists.push((await database.select(`SELECT DISTINCT run FROM ${name} ORDER BY run`)).map(String));
  return lists;
}

async function openLineages() {
  const { database } = await openTables();
  let nowMs = startMs;
  const pass = (afterMs: number, through: Database = database) => {
    nowMs += afterMs;
    const writer = { epoch: 9, holder: 'one' };
    return dropRetiredRuns({
      database: through,
      writer,
      nowMs: () => nowMs,
      logger: silentLogger,
    });
  };
  const note = (change: Partial<Lineage>, atMs: number) =>
    noteLineage(database, { ...someLineage, ...change }, atMs);
  const open = (...runs: string[]) => ({
    runs: runs.map((run, at) => ({ run, through: at === runs.length - 1 ? openEnd : 10 * (at + 1) })),
  });
  const expectRuns = async (...runs: string[]) => {
    const expected = [...rowTables, foldStates].map(() => runs);
    expect(await listRuns(database)).toEqual(expected);
  };
  return { database, pass, note, open, expectRuns };
}

describe('runs that nobody needs', () => {
  it('are retired, and dropped an hour later from every table, partition by partition', async () => {
    const { database, pass, note, open, expectRuns } = await openLineages();
    for (const run of ['ahead', 'kept', 'lost']) await storeRun(database, run);
    // Its process had a clock that was far ahead of its successor's.
    await note({ ...open('ahead'), epoch: 0 }, startMs);
    await note(open('kept'), 0);
    // No lineage names the copy, so that nothing of it is needed.
    await note({ ...open('lost', 'copy'), cause: 'merged' }, startMs);
    await pass(0);
    await pass(hourMs - 1);
    await expectRuns('ahead', 'kept', 'lost');
    await pass(1);
    await expectRuns('ahead', 'kept');
  });

  it('are not those of the newest or recent lineages', async () => {
    const { database, pass, note, open, expectRuns } = await openLineages();
    for (const run of ['a', 'b', 'before', 'older', 'pipeline']) await storeRun(database, run);
    await note({ ...open('older'), epoch: 1 }, 0);
    await note({ ...open('before'), epoch: 2, configuration: 'another' }, startMs - retainedMs);
    await note({ ...open('pipeline'), stream: 'MINER_PIPELINE' }, 0);
    await note({ ...open('a', 'b'), epoch: 3 }, startMs - retainedMs + 3 * hourMs);
    await pass(0);
    await pass(hourMs);
    await expectRuns('a', 'b', 'before', 'pipeline');
    // A version that is older than that has no lineage any more, not even before its rows are dropped.
    const another = { ...someLineage, configuration: 'another' };
    expect(await readLineage(database, 'MINER_CHAIN', another)).not.toBeNull();
    await pass(2 * hourMs);
    await expectRuns('a', 'b', 'before', 'pipeline');
    expect(await readLineage(database, 'MINER_CHAIN', another)).toBeNull();
    await pass(hourMs);
    await expectRuns('a', 'b', 'pipeline');
    expect((await readLineage(database, 'MINER_CHAIN'))?.runs).toEqual(open('a', 'b').runs);
  });

  it('are not those of a replay or a process that may be continued', async () => {
    const { database, pass, note, open, expectRuns } = await openLineages();
    for (const run of ['base', 'filled', 'filling', 'first', 'left', 'newest', 'recent', 'stale'])
      await storeRun(database, run);
    await note(open('base'), 0);
    const daysAgo = (days: number) => startMs - days * 24 * hourMs;
    await note({ ...open('base', 'filled'), cause: 'filling', step: 2 }, daysAgo(3));
    await note({ ...open('base', 'filled'), cause: 'filled', step: 6 }, daysAgo(3));
    await note({ ...open('base', 'first'), cause: 'filling', step: 5 }, startMs - hourMs);
    await note({ ...open('base', 'first', 'filling'), cause: 'filling', step: 3 }, startMs);
    await note({ ...open('base', 'left'), cause: 'filling', step: 2 }, daysAgo(2));
    const another = { ...someLineage, configuration: 'another' };
    await note({ ...another, ...open('stale'), cause: 'pending', step: 2 }, daysAgo(2));
    await note({ ...open('recent'), cause: 'pending', step: 3 }, startMs);
    // It is written still.
    await note({ ...open('newest'), cause: 'pending', step: 4 }, daysAgo(3));
    await pass(0);
    await pass(hourMs);
    await expectRuns('base', 'filled', 'filling', 'first', 'newest', 'recent');
    expect(await readContinued(database, 'MINER_CHAIN', another)).toBeNull();
  });

  it('are not those of a replay that begins meanwhile', async () => {
    const { database, pass, note, open, expectRuns } = await openLineages();
    await storeRun(database, 'base');
    await note(open('base'), startMs);
    const { select } = database;
    let hasBegun = false;
    const begin = async () => {
      if (hasBegun) return;
      hasBegun = true;
      await note({ ...open('base', 'filling'), cause: 'filling', step: 2 }, startMs);
      await storeRun(database, 'filling');
    };
    await pass(0, {
      ...database,
      select: async (...asked) => {
        const rows = await select(...asked);
        await begin();
        return rows;
      },
    });
    await pass(hourMs);
    await expectRuns('base', 'filling');
    expect(await database.select("SELECT runs FROM lineages WHERE cause = 'retired'")).toEqual([]);
  });

  it('stay if a lineage names them after all, which counts then', async () => {
    const { database, pass, note, open, expectRuns } = await openLineages();
    for (const run of ['kept', 'late']) await storeRun(database, run);
    await note(open('kept'), 0);
    await pass(0);
    await note({ ...open('kept', 'late'), step: 2 }, startMs);
    await pass(hourMs);
    await expectRuns('kept', 'late');
    expect((await readLineage(database, 'MINER_CHAIN', someLineage))?.runs).toEqual(
      open('kept', 'late').runs,
    );
  });
});

it('no statement of the program removes rows, except of snapshots and of retired runs', () => {
  const found = ['actors', 'machines', 'streams', 'storage', 'http', 'deploy']
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
    )
    .filter((path) => path.endsWith('.ts'))
    .sort()
    .flatMap((path) =>
      [
        ...readFileSync(path, 'utf8').matchAll(
          /\b(?:DELETE (?:FROM|WHERE)|DROP [A-Z]+|TRUNCATE|DETACH|REPLACE PARTITION|ATTACH PARTITION)/g,
        ),
      ].map(([text]) => `${path}: ${text.trim()}`),
    );
  expect(found).toEqual([
    'storage/runs/retiredRuns.ts: DROP PARTITION',
    'storage/snapshots/snapshots.ts: DROP PARTITION',
  ]);
});
