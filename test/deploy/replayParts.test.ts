import { expect, it } from 'vitest';
import type { CounterActors } from '../../actors/wheel/counterActors.ts';
import { describeDifferences } from '../../deploy/commands/replay/differenceLines.ts';
import { createReplayFold } from '../../deploy/commands/replay/replayFold.ts';
import { listPorts } from '../../deploy/commands/runService.ts';
import { readConfiguration } from '../../deploy/configuration/configuration.ts';
import type { Database } from '../../storage/database.ts';
import { resolveTables } from '../../storage/tables.ts';
import { genesisMs } from '../support/genesis.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { buildBatch } from '../support/readings/buildBatch.ts';

const dayMs = 86_400_000;

it('a replay stores rows from its first message on, and one installation’s state between the others’', () => {
  const received: string[] = [];
  const receive = (reading: ReturnType<typeof acceptedReading>) => {
    received.push(`${reading.installationId} ${reading.position}`);
    return { output: { reading, closed: { round: null, bucket: null } } };
  };
  const record = (key: string, value: string) => ({ kind: 'installation', key, value });
  const actors = {
    identity: { foldVersion: 1, configuration: '' },
    receiveStored: receive,
    receive: ({ seq, subject }: { seq: number; subject: string }) =>
      seq === 7
        ? { rejection: { reason: 'duplicate', detail: '' } }
        : receive(acceptedReading({ position: seq, installationId: subject.split('.')[2] ?? '' })),
    capture: () => [record('one', 'replayed'), record('two', 'replayed')],
    beginRestore: () => ({ add: () => undefined, complete: () => () => undefined }),
  } as unknown as CounterActors;
  const reached: number[] = [];
  const start = (installationId: string | null) =>
    createReplayFold({
      actors,
      fromSequence: 4,
      throughSequence: 8,
      only:
        installationId === null
          ? null
          : { installationId, isPublic: false, others: [record('one', 'other'), record('two', 'other')] },
      onProgress: (position) => reached.push(position),
    });
  const message = (seq: number, installationId: string) => ({
    seq,
    subject: `miner.counter.${installationId}`,
    data: Buffer.from(''),
    timestampNanos: 0n,
  });
  const batch = {
    ...buildBatch([message(5, 'two'), message(6, 'one'), message(7, 'one')]),
    stored: [2, 3, 4].map((position) =>
      acceptedReading({ position, installationId: position === 2 ? 'two' : 'one' }),
    ),
  };
  const positions = ({ rows }: ReturnType<ReturnType<typeof start>['receive']>) =>
    rows.readings.map(({ position }) => position);
  const all = start(null);
  expect(positions(all.receive(batch))).toEqual([4, 5, 6]);
  expect(received.splice(0)).toEqual(['two 2', 'one 3', 'one 4', 'two 5', 'one 6']);
  const one = start('one');
  expect(positions(one.receive(batch))).toEqual([4, 6]);
  expect(received).toEqual(['one 3', 'one 4', 'one 6']);
  const captured = () => [...one.capture()].map(({ value }) => value);
  expect(captured()).toEqual(['replayed', 'replayed']);
  one.receive(buildBatch([message(8, 'two')]));
  expect(captured()).toEqual(['other', 'replayed']);
  one.beginRestore().complete()(3);
  expect(captured()).toEqual(['replayed', 'replayed']);
  expect(reached).toEqual([7, 7, 8, 3]);
});

it('the differences of a replay are told by day, the known ones as numbers, forty at most', async () => {
  const tables = { active: resolveTables(1), rebuilt: resolveTables(2) };
  const work = new Map<string, readonly string[]>([
    [tables.active.rounds, ['5', '5']],
    [tables.rebuilt.rounds, ['5', '2']],
  ]);
  const database = {
    select: async (sql: string) =>
      [...work].find(([table]) => sql.includes(` ${table} `))?.[1].map((units) => [units]) ?? [],
  } as unknown as Database;
  const rows = { readings: 1, rounds: 2, buckets: 3 };
  const differ = (day: number, after: object) => ({
    installationId: 'wheel.one',
    startMs: genesisMs + day * dayMs,
    before: rows,
    after: { ...rows, ...after },
  });
  expect(await describeDifferences(database, [], tables)).toEqual(['no day differs']);
  expect(await describeDifferences(database, [differ(0, { readings: 4, buckets: 1 })], tables)).toEqual([
    '1 days differ (each from noon to noon UTC):',
    '2026-01-31  wheel.one  readings 1 -> 4 (+3), half hours 3 -> 1 (-2), work units 10 -> 7 (-3)',
  ]);
  work.clear();
  const lines = await describeDifferences(
    database,
    Array.from({ length: 42 }, (_, day) => differ(day, {})),
    tables,
  );
  expect([lines.length, lines[1], lines[40], lines[41]]).toEqual([
    42,
    '2026-01-31  wheel.one  the same numbers, other content',
    expect.stringContaining('2026-03-11'),
    'and 2 more days',
  ]);
});

it('a process needs its own ports, but shares the public one if it is told to', () => {
  const ports = (serve: boolean, variables = {}) =>
    listPorts(readConfiguration({ MINER_HOST: 'a', MINER_OPS_HOST: 'b', ...variables }), { serve });
  const operators = { setting: 'MINER_OPS_PORT', port: 8_081, hostSetting: 'MINER_OPS_HOST', host: 'b' };
  const serving = { setting: 'MINER_HTTP_PORT', port: 8_080, hostSetting: 'MINER_HOST', host: 'a' };
  expect([ports(false), ports(true), ports(true, { MINER_PORT_SHARED: 'on' })]).toEqual([
    [operators],
    [operators, serving],
    [operators, { ...serving, port: 0 }],
  ]);
});
