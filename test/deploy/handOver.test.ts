import { expect, it } from 'vitest';
import { handOver } from '../../deploy/commands/replay/handOver.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import {
  type Lineage,
  listLineages,
  noteLineage,
  openEnd,
  readLineage,
} from '../../storage/runs/lineages.ts';
import { findReplay, offerReplay } from '../../storage/runs/replays.ts';
import { readings } from '../../storage/tables/readings.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { openTables, storeRows } from '../support/storage/openTables.ts';
import { someLineage } from '../support/storage/someLineage.ts';

const stream = 'MINER_COUNTER';
const open = (run: string) => ({ run, through: openEnd });
const lineage: Lineage = { ...someLineage, stream, epoch: 4, runs: [open('run')] };
const filled: Lineage = {
  ...lineage,
  epoch: 2,
  cause: 'filling',
  runs: [{ run: 'run', through: 10 }, open('replay')],
  continuedRun: 'run',
};

/** Offers the result of a replay through message 20. */
async function offer(...later: readonly Partial<Lineage>[]) {
  const { database } = await openTables();
  await noteLineage(database, lineage, 0);
  await noteLineage(database, filled, 0);
  await storeRows(database, { readings: [acceptedReading({ position: 12 })] }, 'replay');
  for (const [at, change] of later.entries())
    await noteLineage(database, { ...lineage, step: 2 + at, ...change }, 0);
  const { signal } = new AbortController();
  const said = await handOver({ database, signal, print: () => undefined }, filled, 20).catch(
    (error: unknown) => (error as Error).message,
  );
  const origin = { foldVersion: lineage.foldVersion, configuration: lineage.configuration };
  const current = await readLineage(database, stream);
  return {
    said,
    offered: await findReplay(database, stream, origin, current),
    listed: await listLineages(database, stream, 'filled', origin),
    /** Whether its rows stay. */
    isKept: (await database.select(`SELECT 1 FROM ${readings.name} WHERE run = 'replay'`)).length > 0,
  };
}

it.each<[string, readonly Partial<Lineage>[]]>([
  ['nothing has changed', []],
  [
    'the service has restarted above the base',
    [{ runs: [{ run: 'run', through: 15 }, open('next')], epoch: 5 }],
  ],
])('the result of a replay is offered if %s', async (_what, later) => {
  const { said, offered, isKept } = await offer(...later);
  expect(said).toContain('the result is complete');
  expect(offered).toMatchObject({
    cause: 'filled',
    // Behind every earlier one.
    epoch: later[0]?.epoch ?? lineage.epoch,
    position: 20,
    runs: [
      { run: 'run', through: 10 },
      { run: 'replay', through: 20 },
    ],
  });
  expect(isKept).toBe(true);
});

it.each<[string, Partial<Lineage>]>([
  ['the stream has lost what it continues', { runs: [{ run: 'run', through: 9 }, open('next')] }],
  ['the stream was created again', { streamCreated: 'later' }],
  ['another version is in use', { foldVersion: 2 }],
])('the result of a replay is not used if %s', async (_what, later) => {
  const { said, listed, isKept } = await offer(later);
  expect(said).toContain('the result is not used');
  expect([listed, isKept]).toEqual([[], false]);
});

/** Offers a result while a service runs, which notes a lineage after it was asked for. Returns all lines that are printed. */
async function offerToService(
  change: Partial<Lineage>,
  { limitMs, isAway }: { readonly limitMs: number; readonly isAway: (asked: number) => boolean },
) {
  const { database: embedded } = await openTables();
  for (const one of [lineage, filled]) await noteLineage(embedded, one, 0);
  let asked = 0;
  let isNoted = false;
  const lines: string[] = [];
  const database: Database = {
    ...embedded,
    kind: 'server',
    select: async (sql, parameters) => {
      const isAsked = sql.includes('continued_run = ');
      if (isAsked) asked++;
      if (asked > 0 && isAway(asked)) throw new Error('ClickHouse is away');
      if (!isAsked) return embedded.select(sql, parameters);
      const rows = await embedded.select(sql, parameters);
      if (!isNoted) await noteLineage(embedded, { ...lineage, step: 9, ...change }, 0);
      isNoted = true;
      return rows;
    },
  };
  const { signal } = new AbortController();
  const print = (line: string) => lines.push(line);
  lines.push(
    await handOver({ database, signal, limitMs, print }, filled, 20).catch(
      (error: unknown) => (error as Error).message,
    ),
  );
  return lines;
}

const waiting = 'the result is offered: waiting up to';

it('a replay waits until the service has continued it, and says while ClickHouse is away', async () => {
  const continued = { reason: 'replayed', continuedRun: 'replay' } as const;
  const lines = await offerToService(continued, { limitMs: 600_000, isAway: (asked) => asked < 3 });
  expect(lines).toEqual([
    expect.stringContaining(waiting),
    // Once, however often it fails.
    expect.stringContaining('ClickHouse does not answer: ClickHouse is away'),
    expect.stringContaining('the service has taken it over'),
  ]);
});

it('the result of a replay stays offered if ClickHouse does not come back', async () => {
  const lines = await offerToService({}, { limitMs: 600, isAway: () => true });
  expect(lines).toEqual([
    expect.stringContaining(waiting),
    expect.stringContaining('ClickHouse does not answer'),
    expect.stringContaining('the result is complete'),
  ]);
});

it('a replay ends after a while, and says that what it continues counts no longer', async () => {
  const lines = await offerToService(
    { streamCreated: 'later' },
    { limitMs: 1_200, isAway: (asked) => asked === 1 },
  );
  expect(lines.at(-1)).toContain('the result is not used');
});

it('the later of two results of one epoch counts', async () => {
  const { database } = await openTables();
  await noteLineage(database, lineage, 0);
  for (const [at, nowMs] of [900, 500].entries()) {
    const runs = [{ run: 'run', through: 10 }, open(`replay ${at}`)];
    await offerReplay(database, { ...filled, runs, step: 7 - at }, { position: 20, nowMs });
  }
  expect((await findReplay(database, stream, {}, lineage))?.runs.at(-1)?.run).toBe('replay 1');
});
