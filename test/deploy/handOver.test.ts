import { expect, it } from 'vitest';
import { handOver } from '../../deploy/commands/replay/handOver.ts';
import { findReplay, listUnfinished } from '../../storage/fills.ts';
import { type Lineage, listLineages, noteLineage, openEnd, readLineage } from '../../storage/lineages.ts';
import { openTables } from '../support/storage/openTables.ts';
import { someLineage } from '../support/storage/someLineage.ts';

const stream = 'MINER_COUNTER';
const open = (run: string) => ({ run, through: openEnd });
const history: Lineage = { ...someLineage, stream, epoch: 4, runs: [open('run')] };
const filled: Lineage = {
  ...history,
  epoch: 2,
  cause: 'filling',
  runs: [{ run: 'run', through: 10 }, open('replay')],
  parent: 'run',
};

/** Offers the result of a replay through message 20. */
async function offer(...later: readonly Partial<Lineage>[]) {
  const { database } = await openTables();
  await noteLineage(database, history, 0);
  await noteLineage(database, filled, 0);
  for (const [at, change] of later.entries())
    await noteLineage(database, { ...history, step: 2 + at, ...change }, 0);
  const { signal } = new AbortController();
  const said = await handOver({ database, jsm: {} as never, signal }, filled, 20).catch(
    (error: unknown) => (error as Error).message,
  );
  const origin = { foldVersion: history.foldVersion, configuration: history.configuration };
  const current = await readLineage(database, stream);
  return {
    said,
    offered: await findReplay(database, stream, origin, current),
    listed: await listLineages(database, stream, 'filled', origin),
    unfinished: await listUnfinished(database, stream),
  };
}

it.each<[string, readonly Partial<Lineage>[]]>([
  ['nothing has changed', []],
  [
    'the service has restarted above the base',
    [{ runs: [{ run: 'run', through: 15 }, open('next')], epoch: 5 }],
  ],
])('the result of a replay is offered if %s', async (_what, later) => {
  const { said, offered, unfinished } = await offer(...later);
  expect(said).toContain('the result is complete');
  expect(offered).toMatchObject({
    cause: 'filled',
    // Behind every earlier one.
    epoch: later[0]?.epoch ?? history.epoch,
    position: 20,
    runs: [
      { run: 'run', through: 10 },
      { run: 'replay', through: 20 },
    ],
  });
  expect(unfinished).toEqual([]);
});

it.each<[string, Partial<Lineage>]>([
  ['the stream has lost what it continues', { runs: [{ run: 'run', through: 9 }, open('next')] }],
  ['the stream was created again', { streamCreated: 'later' }],
  ['another version is in use', { foldVersion: 2 }],
])('the result of a replay is not used if %s', async (_what, later) => {
  const { said, listed, unfinished } = await offer(later);
  expect(said).toContain('the result is not used');
  expect([listed, unfinished]).toEqual([[], []]);
});
