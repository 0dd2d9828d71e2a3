import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { inputStreamNames } from '../../actors/messages/subjects.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { type Lineage, noteLineage, openEnd, type VisibleRuns } from '../../storage/runs/lineages.ts';
import type { StoredRows } from '../../storage/tables/storedRows.ts';
import { openTables } from '../support/storage/openTables.ts';
import { someLineage } from '../support/storage/someLineage.ts';
import { someRows } from '../support/storage/someRows.ts';
import { storedRows } from '../support/storage/storedRows.ts';
import { storeRows } from '../support/storage/storeRows.ts';

const startMs = Date.UTC(2026, 0, 31, 12);

/** Rows of every kind that the message of a sequence has stored, with a value that says who made them. */
function rowsOf(sequence: number, made: number): Partial<StoredRows> {
  const [[reading], [round], [bucket]] = [
    storedRows(60, 1).readings,
    storedRows(60, 1).rounds,
    storedRows(60, 1).buckets,
  ];
  if (reading === undefined || round === undefined || bucket === undefined) throw new Error('no rows');
  const { settlement, checkpoint, claim, event } = someRows;
  const stored = { storedBy: sequence };
  return {
    readings: [{ ...reading, position: sequence, speedMmPerSecond: made }],
    rounds: [{ ...round, roundId: sequence, workUnits: BigInt(made), position: sequence }],
    buckets: [
      { ...bucket, startMs: startMs + sequence * 1_800_000, workUnits: BigInt(made), position: sequence },
    ],
    measurementEvents: [{ ...event, ...stored, position: sequence, id: `${sequence}`, type: `${made}` }],
    chainEvents: [
      {
        ...event,
        ...stored,
        category: 'protocol',
        installationId: '',
        position: sequence,
        id: `chain ${sequence}`,
        type: `${made}`,
      },
    ],
    ownerActivity: [{ ...claim, ...stored, eventNumber: sequence, amountBaseUnits: BigInt(made) }],
    settlements: [{ ...settlement, ...stored, settlementNumber: sequence, workAdded: BigInt(made) }],
    checkpoints: [{ ...checkpoint, ...stored, checkpointNumber: sequence, amountBaseUnits: BigInt(made) }],
  };
}

async function store(database: Database, run: string, made: number, sequences: readonly number[]) {
  for (const sequence of sequences) await storeRows(database, rowsOf(sequence, made), run);
}

/** Notes a history of both streams with rows. */
async function note(database: Database, runs: VisibleRuns, lineage: Partial<Lineage> = {}) {
  for (const stream of inputStreamNames)
    await noteLineage(database, { ...someLineage, stream, runs, ...lineage }, 0);
}

/** Each view, and the value in it that says who made a row. */
const views = [
  ['readings', 'speed_mm_per_second'],
  ['rounds', 'work_units'],
  ['half_hour_buckets', 'work_units'],
  ["(SELECT * FROM events WHERE source = 'measurement')", 'type'],
  ["(SELECT * FROM events WHERE source = 'chain')", 'type'],
  ['owner_activity', 'amount_base_units'],
  ['settlements', 'work_added'],
  ['checkpoints', 'amount_base_units'],
] as const;

/** Messages whose rows each view shows, with who made them. */
async function readViews(database: Database): Promise<Record<string, string[]>> {
  const shown: Record<string, string[]> = {};
  for (const [view, made] of views) {
    const rows = await database.select(
      `SELECT concat(toString(stored_by), ':', toString(${made})) AS row FROM ${view} ORDER BY stored_by, row`,
    );
    shown[view] = rows.map(([row]) => String(row));
  }
  return shown;
}

it('each view shows each row that counts once, and no other', async () => {
  const { database } = await openTables();
  const expectShown = async (...rows: string[]) =>
    expect(await readViews(database)).toEqual(Object.fromEntries(views.map(([view]) => [view, rows])));
  await store(database, 'first', 1, [1, 2, 3, 4]);
  await expectShown();
  await note(database, [{ run: 'first', through: openEnd }]);
  await expectShown('1:1', '2:1', '3:1', '4:1');
  // A batch that was sent twice, and a run that has made the end again.
  await store(database, 'first', 1, [2]);
  await store(database, 'second', 2, [3, 4, 5]);
  await expectShown('1:1', '2:1', '3:1', '4:1');
  await note(
    database,
    [
      { run: 'first', through: 2 },
      { run: 'second', through: openEnd },
    ],
    { step: 2 },
  );
  const second = ['1:1', '2:1', '3:2', '4:2', '5:2'];
  await expectShown(...second);
  // Neither what a replay notes, nor what a process of an earlier epoch still notes, changes that.
  const replayed = [{ run: 'replay', through: openEnd }];
  await store(database, 'replay', 3, [1, 2, 3]);
  await note(database, replayed, { epoch: 9, cause: 'filling' });
  await note(database, replayed, { epoch: 9, step: 2, cause: 'filled' });
  await note(database, replayed, { epoch: 0, step: 9 });
  await expectShown(...second);
  await note(database, replayed, { epoch: 2, cause: 'replayed' });
  await expectShown('1:3', '2:3', '3:3');
  await note(database, [], { epoch: 3 });
  await expectShown();
});

it('a chain row stored again after a reorganization is shown once', async () => {
  const { database } = await openTables();
  await store(database, 'first', 1, [1, 2]);
  // In the same run, and in a later one.
  for (const [run, storedBy] of [
    ['first', 3],
    ['second', 6],
  ] as const) {
    const { chainEvents, ownerActivity, settlements, checkpoints } = rowsOf(2, 1);
    const again = <Row extends object>(rows: readonly Row[] = []) =>
      rows.map((row) => ({ ...row, storedBy }));
    const repeated = {
      chainEvents: again(chainEvents),
      ownerActivity: again(ownerActivity),
      settlements: again(settlements),
      checkpoints: again(checkpoints),
    };
    await storeRows(database, repeated, run);
  }
  const count = async () => {
    const counts: number[] = [];
    for (const [view] of views.slice(-4)) {
      const [row] = await database.select(`SELECT count() FROM ${view}`);
      counts.push(Number(row?.[0]));
    }
    return counts;
  };
  for (const [step, through] of [2, 5].entries()) {
    const runs = [
      { run: 'first', through },
      { run: 'second', through: openEnd },
    ];
    await note(database, runs, { step: step + 1 });
    expect(await count()).toEqual([2, 2, 2, 2]);
  }
});

it('the views answer the queries of queries.sql', async () => {
  const { database } = await openTables();
  await storeRows(database, { ...storedRows(58, 3), checkpoints: [someRows.checkpoint] });
  await note(database, someLineage.runs);
  const page = readFileSync(resolve(import.meta.dirname, '../../deploy/clickhouse/queries.sql'), 'utf8');
  const queries = page.split(';\n').slice(0, -1);
  expect(queries.length).toBeGreaterThanOrEqual(3);
  const from = "fromUnixTimestamp64Milli({from:Int64}, 'UTC')";
  const to = "fromUnixTimestamp64Milli({to:Int64}, 'UTC')";
  for (const query of queries) {
    // As Grafana's plugin for ClickHouse replaces its macros.
    const sql = query
      .replace(/\$__timeFilter\((\w+)\)/g, `($1 >= ${from} AND $1 <= ${to})`)
      .replace(/\$__timeInterval\((\w+)\)/g, 'toStartOfInterval(toDateTime($1), INTERVAL 60 second)')
      .replaceAll('$installation', 'wheel-1');
    const rows = await database.select(sql, { from: startMs, to: startMs + 2 * 86_400_000 });
    expect([sql, rows.length > 0 || sql.includes('FROM events')]).toEqual([sql, true]);
  }
});
