import { BehaviorSubject } from 'rxjs';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { PipelineFault } from '../../machines/streamFollowerMachine.ts';
import {
  holdsThrough,
  mergeRuns,
  noteLineage,
  readLineage,
  runsMax,
  selectVisible,
} from '../../storage/lineages.ts';
import { createRunHistory, type RunHistory } from '../../streams/follower/runHistory.ts';
import { NotProven } from '../../streams/jetstream/suspicions.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { type OpenTables, openTables } from '../support/storage/openTables.ts';
import { someLineage } from '../support/storage/someLineage.ts';
import { someRows } from '../support/storage/someRows.ts';
import { storeRows } from '../support/storage/storeRows.ts';

const stream = 'MINER_CHAIN';
const identity = { foldVersion: 1, configuration: 'ours' };
/** The stream's last message. */
let end = 0;
let epoch = 0;
let opened: OpenTables;

beforeEach(async () => {
  end = 100;
  epoch = 0;
  opened = await openTables();
});

interface Start {
  /** Position of the restored state. */
  readonly position?: number;
  readonly streamCreated?: string;
  readonly fault?: PipelineFault | null;
  /** Whether a snapshot above the restored one disagrees with the stream. */
  readonly disagrees?: boolean;
  /** Position of the newest snapshot, if that agrees. */
  readonly newestPosition?: number | null;
}

/** A process that writes rows, each of the message whose sequence is its number. */
function startProcess(of = identity) {
  const { database, tables } = opened;
  epoch++;
  const progress$ = new BehaviorSubject({ storedThrough: 0, isFailing: false });
  const isProven = (_: unknown, { isConfirmed }: { isConfirmed: boolean }) => isConfirmed;
  const verifier = { ask: async () => ({ info: { state: { last_seq: end } } }), isProven };
  const history: RunHistory = createRunHistory({
    stream,
    identity: of,
    database,
    tables: () => tables,
    writer: { epoch, holder: 'test' },
    verifier: verifier as never,
    clock: { nowMs: () => 0 },
    logger: silentLogger,
  });
  return {
    ...history,
    start: async ({
      position = 0,
      streamCreated = 'now',
      fault = null,
      disagrees = false,
      newestPosition = null,
    }: Start = {}) => {
      progress$.next({ storedThrough: position, isFailing: false });
      const choice = { found: null, disagrees, newestPosition };
      return history.correct({ choice, position, streamCreated, firstSequence: 1, fault }, { progress$ });
    },
    /** Stores rows of messages, with a level that says who made them. */
    store: async (from: number, through: number, workAdded = 1n) => {
      for (let number = from; number <= through; number++)
        await storeRows(
          database,
          tables,
          {
            settlements: [{ ...someRows.settlement, settlementNumber: number, workAdded, storedBy: number }],
          },
          history.run(),
        );
      progress$.next({ storedThrough: through, isFailing: false });
    },
  };
}

/** Messages whose rows readers see, with what they say. */
async function readShown(of = identity): Promise<string[]> {
  const { database, tables } = opened;
  const { sql, parameters } = selectVisible((await readLineage(database, stream, of))?.runs ?? []);
  const rows = await database.select(
    `SELECT concat(toString(stored_by), ':', toString(work_added)) FROM ${tables.settlements} FINAL WHERE ${sql} ORDER BY stored_by`,
    parameters,
  );
  return rows.map(([row]) => String(row));
}

const rows = (from: number, through: number, work = 1) =>
  Array.from({ length: through - from + 1 }, (_, at) => `${from + at}:${work}`);

describe('a process that stores rows', () => {
  it('shows them at once if there are none yet', async () => {
    const first = startProcess();
    expect([first.run(), first.visible()]).toEqual(['', []]);
    expect(await first.start()).toBe(false);
    await first.store(1, 3);
    expect(await readShown()).toEqual(rows(1, 3));
  });

  it('continues the run of another one that has ended in good order, even from an older state', async () => {
    const first = startProcess();
    await first.start();
    await first.store(1, 5);
    await first.end(5);
    const second = startProcess();
    await second.start({ position: 3, newestPosition: 5 });
    expect(second.run()).toBe(first.run());
    expect(await readShown()).toEqual(rows(1, 5));
    // Its end is no end any more.
    const third = startProcess();
    await third.start({ position: 3, newestPosition: 5 });
    expect(third.run()).not.toBe(first.run());
  });

  it('does not continue a run below its beginning, where an earlier one has the same rows', async () => {
    const first = startProcess();
    await first.start();
    await first.store(1, 4);
    const second = startProcess();
    await second.start({ position: 4, newestPosition: 4 });
    await second.store(5, 6);
    await second.end(6);
    const third = startProcess();
    await third.start({ position: 2, newestPosition: 6 });
    await third.store(3, 7, 2n);
    await eventually(async () => (await readShown()).includes('7:2'), 'the new history');
    expect(await readShown()).toEqual([...rows(1, 2), ...rows(3, 7, 2)]);
  });

  it('begins a run above its state after a kill, which is shown once it has everything that was', async () => {
    const first = startProcess();
    await first.start();
    await first.store(1, 5);
    const second = startProcess();
    expect(await second.start({ position: 3, newestPosition: 3 })).toBe(false);
    await second.store(4, 4, 2n);
    expect(await readShown()).toEqual(rows(1, 5));
    // What the first one still stores is never seen.
    await first.store(6, 6);
    await second.store(5, 7, 2n);
    await eventually(async () => (await readShown()).length === 7, 'the new history');
    expect(await readShown()).toEqual([...rows(1, 3), ...rows(4, 7, 2)]);
  });

  it('notes it with later rows if ClickHouse has refused that, and never once its pipeline has ended', async () => {
    const first = startProcess();
    await first.start();
    await first.store(1, 5);
    let refused = 0;
    let isAway = true;
    const { database } = opened;
    const insertBlocks: typeof database.insertBlocks = async (table, blocks) => {
      if (table === 'lineages' && isAway) {
        refused++;
        throw new Error('away');
      }
      await database.insertBlocks(table, blocks);
    };
    opened = { ...opened, database: { ...database, insertBlocks } };
    const second = startProcess();
    await second.start({ position: 3 });
    vi.useFakeTimers({ toFake: ['setInterval'] });
    try {
      await second.store(4, 5, 2n);
      await expect.poll(() => refused).toBe(1);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
    isAway = false;
    expect(await readShown()).toEqual(rows(1, 5));
    await second.store(6, 6, 2n);
    await eventually(async () => (await readShown()).includes('6:2'), 'the new history');
  });

  it('does not show its run if it ends before', async () => {
    const first = startProcess();
    await first.start();
    await first.store(1, 5);
    const second = startProcess();
    await second.start({ position: 3 });
    await second.store(4, 4, 2n);
    await second.end(4);
    expect(await readShown()).toEqual(rows(1, 5));
    const third = startProcess();
    await third.start({ position: 3 });
    await third.store(4, 5, 3n);
    await eventually(async () => (await readShown()).includes('5:3'), 'the new history');
  });

  it.each<[string, Start, () => void]>([
    ['that a snapshot shows', { disagrees: true }, () => undefined],
    ['that its pipeline has met', { fault: 'diverged' }, () => undefined],
    [
      'that stored rows show',
      {},
      () => {
        end = 4;
      },
    ],
  ])('hides at once what the stream has lost, a loss %s', async (_, start, lose) => {
    const first = startProcess();
    await first.start();
    await first.store(1, 5);
    lose();
    const second = startProcess();
    expect(await second.start({ position: 3, ...start })).toBe(true);
    expect(await readShown()).toEqual(rows(1, 3));
  });

  it('neither shows nor hides anything while a loss is not proven', async () => {
    const first = startProcess();
    await first.start();
    await first.store(1, 5);
    const second = startProcess();
    const { database, tables } = opened;
    const isProven = () => {
      throw new NotProven('not yet');
    };
    const doubting = createRunHistory({
      stream,
      identity,
      database,
      tables: () => tables,
      writer: { epoch, holder: 'test' },
      verifier: { ask: async () => ({ info: { state: { last_seq: 1 } } }), isProven } as never,
      clock: { nowMs: () => 0 },
      logger: silentLogger,
    });
    const choice = { found: null, disagrees: false, newestPosition: null };
    const correction = { choice, position: 3, streamCreated: 'now', firstSequence: 1, fault: null };
    const progress$ = new BehaviorSubject({ storedThrough: 3, isFailing: false });
    await expect(doubting.correct(correction, { progress$ })).rejects.toThrow(NotProven);
    expect([await readShown(), second.run()]).toEqual([rows(1, 5), '']);
  });

  it('hides at once what a deep reorganization replaces', async () => {
    const first = startProcess();
    await first.start();
    await first.store(1, 5);
    expect(await first.start({ position: 2, fault: 'olderSnapshotNeeded' })).toBe(false);
    expect(await readShown()).toEqual(rows(1, 2));
  });

  it('hides nothing if its own pipeline begins again', async () => {
    const first = startProcess();
    await first.start();
    await first.store(1, 5);
    await first.start({ position: 3 });
    expect(await readShown()).toEqual(rows(1, 5));
    await first.store(4, 6);
    await eventually(async () => (await readShown()).length === 6, 'the rows of both runs');
  });

  it('begins anew with another stream or fold, and finds its own rows again when it returns', async () => {
    const first = startProcess();
    await first.start();
    await first.store(1, 5);
    await first.end(5);
    const recreated = startProcess();
    expect(await recreated.start({ streamCreated: 'later' })).toBe(true);
    expect(await readShown()).toEqual([]);
    const other = { foldVersion: 2, configuration: 'ours' };
    const upgraded = startProcess(other);
    expect(await upgraded.start()).toBe(false);
    await upgraded.store(1, 2, 2n);
    expect(await readShown(other)).toEqual(rows(1, 2, 2));
    const back = startProcess();
    await back.start({ position: 5, newestPosition: 5 });
    expect(await readShown()).toEqual(rows(1, 5));
  });

  it('restores only snapshots whose rows count', async () => {
    const first = startProcess();
    await first.start();
    await first.store(1, 5);
    const second = startProcess();
    await second.start({ position: 3, disagrees: true });
    const isUsable = await startProcess().chooseFrom('now');
    const usable = [
      [first.run(), 3],
      [first.run(), 4],
      [second.run(), 9],
      ['', 1],
    ].map(([run, position]) => isUsable({ run, position } as never));
    expect(usable).toEqual([true, false, true, false]);
    expect((await startProcess().chooseFrom('later'))({ run: first.run(), position: 1 } as never)).toBe(
      false,
    );
  });

  it('merges runs before they are too many, and the rows stay the same', async () => {
    for (let number = 1; number <= 2 * runsMax; number++) {
      const process = startProcess();
      await process.start({ position: number - 1 });
      await process.store(number, number, BigInt(number));
      expect(process.visible().length).toBeLessThanOrEqual(runsMax);
      expect(holdsThrough(process.visible(), process.run(), number)).toBe(true);
      expect((await readShown()).at(-1)).toBe(`${number}:${number}`);
    }
    expect(await readShown()).toEqual(Array.from({ length: 2 * runsMax }, (_, at) => `${at + 1}:${at + 1}`));
  }, 60_000);
});

it('the run of the newest snapshot is not merged, however short, since a kill before the next one leads back to it', async () => {
  const { database, tables } = opened;
  const runs = [10, 18, 24, 28, 30, 31].map((through) => ({ run: `to ${through}`, through }));
  const merged = await mergeRuns(database, tables, { stream, runs, name: 'merged' });
  expect(merged.map(({ run }) => run)).toEqual(['to 10', 'to 18', 'to 24', 'merged', 'to 31']);
});

it('a process of an earlier epoch cannot change what readers see', async () => {
  const { database } = opened;
  const later = { ...someLineage, epoch: 7, step: 1, runs: [] };
  await noteLineage(database, later, 0);
  await noteLineage(database, { ...someLineage, epoch: 6, step: 9 }, 0);
  expect(await readLineage(database, stream)).toMatchObject({ epoch: 7, runs: [] });
  // Two NATS servers have given one epoch to two processes: both agree on one of them.
  await noteLineage(database, { ...later, holder: 'last', cause: 'diverged' }, 0);
  await noteLineage(database, { ...later, holder: 'first', step: 9 }, 0);
  expect(await readLineage(database, stream)).toMatchObject({ holder: 'last', cause: 'diverged' });
});
