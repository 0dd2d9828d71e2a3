import { expect, it } from 'vitest';
import type { FoldRecord } from '../../actors/folds/foldRecord.ts';
import { dayMs } from '../../actors/schemas/durations.ts';
import { compareRows, compareStates, digestRecords } from '../../deploy/commands/replay/compareFold.ts';
import { applyReadingsTtl } from '../../storage/rows/readingsTtl.ts';
import { openEnd } from '../../storage/runs/lineages.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { openTables, storeRows } from '../support/storage/openTables.ts';

it('states are compared record by record, whatever the order of their members', async () => {
  const digest = (...records: FoldRecord[]) =>
    digestRecords(
      {
        async *read() {
          yield records;
        },
      },
      {} as never,
    );
  const build = (kind: string, value: object): FoldRecord => ({
    kind,
    key: '1',
    value: JSON.stringify(value),
  });
  const heard = (atMs: number) => build('heard', [atMs, null]);
  const saved = await digest(build('day', [{ a: 1, b: { c: 2, d: 3 } }]), heard(5), build('gone', []));
  const folded = (atMs: number) => digest(heard(atMs), build('day', [{ b: { d: 3, c: 2 }, a: 1 }]));
  const same = await folded(5);
  expect(compareStates(same, await folded(5))).toEqual({
    lines: ['state as folded again: 2 records'],
    differsFrom: null,
  });
  expect(compareStates(saved, await folded(6))).toEqual({
    lines: ['the state differs: 2 of 2 records, heard 1, gone 1'],
    differsFrom: 1,
  });
});

it('readings are compared from two days after the border of the TTL on', async () => {
  const { database } = await openTables();
  const [days, nowMs] = [32, Date.now()];
  const readings = [-1, 1].map((sign, index) =>
    acceptedReading({
      position: index + 1,
      receivedAtMs: nowMs - (days - 2) * dayMs + sign * 600_000,
    }),
  );
  await storeRows(database, { readings }, 'folded');
  const compare = () =>
    compareRows(database, 'MINER_COUNTER', {
      stored: [{ run: 'stored', through: openEnd }],
      folded: [{ run: 'folded', through: openEnd }],
      after: 0,
      through: 9,
    });
  expect((await compare()).lines[0]).toContain('stored_readings differs: 2 of 2 rows are missing');
  await applyReadingsTtl(database, { days, nowMs });
  expect(await compare()).toMatchObject({
    lines: [expect.stringContaining('stored_readings differs: 1 of 1 rows are missing'), expect.anything()],
    differsFrom: 2,
  });
});
