import { expect, it } from 'vitest';
import { describeDifferences } from '../../deploy/commands/replay/differenceLines.ts';
import { listPorts } from '../../deploy/commands/runService.ts';
import { readConfiguration } from '../../deploy/configuration/configuration.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { openEnd } from '../../storage/runs/lineages.ts';
import { genesisMs } from '../support/genesis.ts';

const dayMs = 86_400_000;

it('differences of a replay are told by day, forty at most', async () => {
  const histories = {
    before: [{ run: 'before', through: openEnd }],
    after: [{ run: 'after', through: openEnd }],
  };
  const work = new Map<string, readonly string[]>([
    ['before', ['5', '5']],
    ['after', ['5', '2']],
  ]);
  const database = {
    select: async (_: string, { run0 }: { run0: string }) => work.get(run0)?.map((units) => [units]) ?? [],
  } as unknown as Database;
  const rows = { readings: 1, rounds: 2, buckets: 3, events: 4 };
  const differ = (day: number, after: object) => ({
    installationId: 'wheel.one',
    startMs: genesisMs + day * dayMs,
    before: rows,
    after: { ...rows, ...after },
  });
  expect(await describeDifferences(database, [], histories)).toEqual(['no day differs']);
  expect(
    await describeDifferences(database, [differ(0, { readings: 4, buckets: 1, events: 3 })], histories),
  ).toEqual([
    '1 days differ (each from noon to noon UTC):',
    '2026-01-31  wheel.one  readings 1 -> 4 (+3), half hours 3 -> 1 (-2), events 4 -> 3 (-1), work units 10 -> 7 (-3)',
  ]);
  work.clear();
  const lines = await describeDifferences(
    database,
    Array.from({ length: 42 }, (_, day) => differ(day, {})),
    histories,
  );
  expect([lines.length, lines[1], lines[40], lines[41]]).toEqual([
    42,
    '2026-01-31  wheel.one  the same numbers, other content',
    expect.stringContaining('2026-03-11'),
    'and 2 more days',
  ]);
});

it('a process needs the public port only if it serves', () => {
  const ports = (serve: boolean) =>
    listPorts(readConfiguration({ MINER_HOST: 'a', MINER_OPS_HOST: 'b' }), { serve });
  const operators = { setting: 'MINER_OPS_PORT', port: 8_081, hostSetting: 'MINER_OPS_HOST', host: 'b' };
  const serving = { setting: 'MINER_HTTP_PORT', port: 8_080, hostSetting: 'MINER_HOST', host: 'a' };
  expect([ports(false), ports(true)]).toEqual([[operators], [operators, serving]]);
});
