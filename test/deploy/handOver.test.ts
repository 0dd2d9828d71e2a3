import { describe, expect, it } from 'vitest';
import { handOver } from '../../deploy/commands/replay/handOver.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { findReplay, listHistories, offerReplay } from '../../storage/runs/fills.ts';
import {
  type Lineage,
  listLineages,
  noteLineage,
  openEnd,
  readLineage,
} from '../../storage/runs/lineages.ts';
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
  continuedRun: 'run',
};

/** Offers the result of a replay through message 20. */
async function offer(...later: readonly Partial<Lineage>[]) {
  const { database } = await openTables();
  await noteLineage(database, history, 0);
  await noteLineage(database, filled, 0);
  for (const [at, change] of later.entries())
    await noteLineage(database, { ...history, step: 2 + at, ...change }, 0);
  const { signal } = new AbortController();
  const print = () => undefined;
  const said = await handOver({ database, jetStream: {} as never, signal, print }, filled, 20).catch(
    (error: unknown) => (error as Error).message,
  );
  const origin = { foldVersion: history.foldVersion, configuration: history.configuration };
  const current = await readLineage(database, stream);
  return {
    said,
    offered: await findReplay(database, stream, origin, current),
    listed: await listLineages(database, stream, 'filled', origin),
    /** Whether the snapshots of the fill stay. */
    isKept: (await listHistories(database, stream)).some((isCounted) =>
      isCounted({ run: 'replay', position: 20 }),
    ),
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
    epoch: later[0]?.epoch ?? history.epoch,
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

describe('a command without ClickHouse or NATS', () => {
  /** Offers a result to a service that renews its lease, and takes the result over or notes another history when both have answered some times. */
  async function offerAway(
    { answersAfter, takenAfter, limitMs }: Record<'answersAfter' | 'takenAfter' | 'limitMs', number>,
    change: Partial<Lineage> = { cause: 'counts', reason: 'replayed', continuedRun: 'replay' },
  ) {
    const { database: embedded } = await openTables();
    for (const one of [history, filled]) await noteLineage(embedded, one, 0);
    const printed: string[] = [];
    let asked = 0;
    const database: Database = {
      ...embedded,
      kind: 'server',
      select: async (sql, parameters) => {
        if (sql.includes('continued_run = ') && ++asked <= answersAfter / 2)
          throw new Error('ClickHouse is away');
        return embedded.select(sql, parameters);
      },
    };
    let seq = 0;
    const jetStream = {
      last: async () => {
        if (++seq <= answersAfter / 2) throw new Error('stream not found');
        const [taken] = await embedded.select("SELECT count() FROM lineages WHERE reason = 'replayed'");
        if (seq >= takenAfter && Number(taken?.[0]) === 0)
          await noteLineage(embedded, { ...history, step: 9, ...change }, 0);
        return { seq };
      },
    } as never;
    const { signal } = new AbortController();
    const print = (line: string) => printed.push(line);
    const said = await handOver({ database, jetStream, signal, print, limitMs }, filled, 20).catch(
      (error: unknown) => (error as Error).message,
    );
    return { said, printed };
  }

  it('says so once, and waits on', async () => {
    const { said, printed } = await offerAway({ answersAfter: 4, takenAfter: 3, limitMs: 600_000 });
    expect(printed).toEqual(['ClickHouse or NATS does not answer, which is waited for: ClickHouse is away']);
    expect(said).toContain('the service has taken it over');
  });

  it('ends after a while, and says what it does not know', async () => {
    const { said, printed } = await offerAway({ answersAfter: 100, takenAfter: 100, limitMs: 3_000 });
    expect(printed).toHaveLength(1);
    expect(said).toContain('Whether it has taken it over is unknown');
  });

  it('ends after a while, and says that what it continues counts no longer', async () => {
    const later = { streamCreated: 'later' };
    const { said } = await offerAway({ answersAfter: 0, takenAfter: 1, limitMs: 0 }, later);
    expect(said).toContain('the result is not used');
  });
});

it('the later of two results of one epoch counts', async () => {
  const { database } = await openTables();
  await noteLineage(database, history, 0);
  for (const [at, nowMs] of [900, 500].entries()) {
    const runs = [{ run: 'run', through: 10 }, open(`replay ${at}`)];
    await offerReplay(database, { ...filled, runs, step: 7 - at }, { position: 20, nowMs });
  }
  expect((await findReplay(database, stream, {}, history))?.runs.at(-1)?.run).toBe('replay 1');
});
