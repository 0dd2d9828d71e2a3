import { BehaviorSubject } from 'rxjs';
import { beforeEach, describe, expect, it } from 'vitest';
import type { FoldIdentity } from '../../actors/folds/foldIdentity.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import {
  counting,
  cutRuns,
  findLastRun,
  type Lineage,
  type LineageOrigin,
  noteLineage,
  openEnd,
  readLineage,
  selectRuns,
} from '../../storage/runs/lineages.ts';
import { mergeRuns, runsMax } from '../../storage/runs/mergedRuns.ts';
import type { FoldedRows } from '../../storage/tables/foldedRows.ts';
import { readings } from '../../storage/tables/readings.ts';
import { rounds } from '../../storage/tables/rounds.ts';
import type { SnapshotChoice } from '../../streams/follower/chooseSnapshot.ts';
import type { RestoredPosition } from '../../streams/follower/restoreFold.ts';
import { createWrittenLineage } from '../../streams/follower/writtenLineage.ts';
import { NotProven } from '../../streams/jetstream/proofs/suspicions.ts';
import { eventually } from '../support/processes/lifetime.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { type OpenTables, openTables, storeRows } from '../support/storage/openTables.ts';
import { someLineage } from '../support/storage/someLineage.ts';

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

/** The restored state, and what a snapshot above it shows. */
interface Start extends Partial<Omit<RestoredPosition, 'choice'>>, Partial<Omit<SnapshotChoice, 'found'>> {}

const stream = 'MINER_COUNTER';

/** Rows of messages, with a speed that says who made them. */
function buildRows(from: number, through: number, made: bigint): Partial<FoldedRows> {
  const numbers = Array.from({ length: through - from + 1 }, (_, at) => from + at);
  return {
    readings: numbers.map((position) => acceptedReading({ position, speedMmPerSecond: Number(made) })),
    rounds: numbers.map((position) => ({
      installationId: 'wheel-1',
      roundId: position,
      startMs: 0,
      workUnits: made,
      position,
    })),
  };
}

function createLineage(
  of: InputStreamName,
  identityOfFold: FoldIdentity,
  rows: Parameters<typeof createWrittenLineage>[0]['rows'] = null,
  hasLostEnd = async (tip: number) => end < tip,
) {
  return createWrittenLineage({
    stream: of,
    identity: identityOfFold,
    database: opened.database,
    writer: { epoch: ++epoch, holder: 'test' },
    verifier: { hasLostEnd } as never,
    rows,
    clock: { nowMs: () => 0 },
    logger: silentLogger,
  });
}

type WrittenLineage = ReturnType<typeof createLineage>;

/** Begins a run as a restoration does, which finds out first which snapshots it may restore. */
async function begin(lineage: WrittenLineage, { disagrees = false, newestPosition = null, ...start }: Start) {
  const beginning = { position: 0, streamCreated: 'now', firstSequence: 1, fault: null };
  const restored = { ...beginning, ...start, choice: { found: null, disagrees, newestPosition } };
  await lineage.chooseFrom(restored.streamCreated);
  return lineage.beginRun(restored);
}

/** Which snapshots of these runs and positions a process may restore. */
async function listUsable(process: WrittenLineage, ...places: (readonly [run: string, position: number])[]) {
  const isUsable = await process.chooseFrom('now');
  return places.map(([run, position]) => isUsable({ run, position } as never));
}

function openProcess(of: FoldIdentity = identity, hasLostEnd?: Parameters<typeof createLineage>[3]) {
  const progress$ = new BehaviorSubject({ storedThrough: 0, isFailing: false });
  const resumeAfter = (storedThrough: number) => progress$.next({ storedThrough, isFailing: false });
  const lineage = createLineage(stream, of, { progress$, resumeAfter }, hasLostEnd);
  const { database } = opened;
  return {
    ...lineage,
    start: (start: Start = {}) => begin(lineage, start),
    /** Stores rows of messages. */
    store: async (from: number, through: number, made = 1n) => {
      await storeRows(database, buildRows(from, through, made), lineage.run());
      resumeAfter(through);
    },
  };
}

/** A process that writes rows, of a state that it has restored. */
async function startProcess(start: Start = {}, of?: FoldIdentity) {
  const process = openProcess(of);
  await process.start(start);
  return process;
}

/** A process that has stored rows of the first messages. */
async function storeFirst(through: number, start?: Start) {
  const process = await startProcess(start);
  await process.store(1, through);
  return process;
}

/** Messages whose rows readers see, with what they say. Readers of any fold see the newest lineage unless a fold is given. */
async function readShown(of: LineageOrigin = identity): Promise<string[]> {
  const { sql, parameters } = selectRuns((await readNewest(of))?.runs ?? []);
  const rows = await opened.database.select(
    `SELECT concat(toString(stored_by), ':', toString(speed_mm_per_second)) FROM ${readings.name} FINAL WHERE ${sql} ORDER BY stored_by`,
    parameters,
  );
  return rows.map(([row]) => String(row));
}

const readNewest = (of: LineageOrigin = {}) => readLineage(opened.database, stream, of);

/** Waits until readers see rows, the last one of which is given. */
const waitUntilShown = (row: string) => eventually(async () => (await readShown()).includes(row), row);

/** Has later processes do something before they note a lineage. */
function beforeEachNote(act: () => Promise<void> | undefined): void {
  const { database } = opened;
  const insertBlocks: typeof database.insertBlocks = async (table, blocks) => {
    if (table === 'lineages') await act();
    await database.insertBlocks(table, blocks);
  };
  opened = { database: { ...database, insertBlocks } };
}

const rows = (from: number, through: number, work = 1) =>
  Array.from({ length: through - from + 1 }, (_, at) => `${from + at}:${work}`);

describe('a process that stores rows', () => {
  it('shows them at once if there are none yet', async () => {
    const first = openProcess();
    expect([first.run(), first.runs()]).toEqual(['', []]);
    expect(await first.start()).toBe(false);
    await first.store(1, 3);
    expect(await readShown()).toEqual(rows(1, 3));
  });

  it('continues a run that ended in good order', async () => {
    const first = await storeFirst(5);
    await first.end(5);
    const second = await startProcess({ position: 3, newestPosition: 5 });
    expect(second.run()).toBe(first.run());
    expect(await readShown()).toEqual(rows(1, 5));
    // Its end is no end any more.
    const third = await startProcess({ position: 3, newestPosition: 5 });
    expect(third.run()).not.toBe(first.run());
  });

  it('begins a run after a kill, shown once it is complete', async () => {
    const first = await storeFirst(5);
    const second = openProcess();
    expect(await second.start({ position: 3, newestPosition: 3 })).toBe(false);
    await second.store(4, 4, 2n);
    expect(await readShown()).toEqual(rows(1, 5));
    // What the first one still stores is never seen.
    await first.store(6, 6);
    await second.store(5, 7, 2n);
    await waitUntilShown('7:2');
    expect(await readShown()).toEqual([...rows(1, 3), ...rows(4, 7, 2)]);
  });

  it('notes it later if ClickHouse refused', async () => {
    await storeFirst(5);
    let refused = 0;
    let isAway = false;
    beforeEachNote(() => {
      if (!isAway) return;
      refused++;
      throw new Error('away');
    });
    const second = await startProcess({ position: 3 });
    isAway = true;
    await second.store(4, 5, 2n);
    await expect.poll(() => refused).toBe(1);
    isAway = false;
    expect(await readShown()).toEqual(rows(1, 5));
    await second.store(6, 6, 2n);
    await waitUntilShown('6:2');
  });

  it('does not take a run for noted because an earlier one was', async () => {
    await storeFirst(5);
    let acknowledge: () => void = () => undefined;
    const acknowledged = new Promise<void>((resolve) => {
      acknowledge = resolve;
    });
    let held = 0;
    // The first note says that the run has begun, the next one that it counts.
    beforeEachNote(() => (++held === 2 ? acknowledged : undefined));
    const second = await startProcess({ position: 3 });
    await second.store(4, 5, 2n);
    await expect.poll(() => held).toBe(2);
    const earlier = second.run();
    await second.start({ position: 3 });
    await second.store(4, 4, 3n);
    acknowledge();
    await waitUntilShown('5:2');
    await second.end(4);
    expect(second.run()).not.toBe(earlier);
    expect(await readShown()).toEqual([...rows(1, 3), ...rows(4, 5, 2)]);
    expect((await readNewest())?.cause).toBe('counts');
  });

  it.each<[string, Start, number]>([
    ['that a snapshot shows', { disagrees: true }, 100],
    ['that its pipeline has met', { fault: 'diverged' }, 100],
    ['that stored rows show', {}, 4],
  ])('hides at once what the stream has lost, a loss %s', async (_, start, endThen) => {
    await storeFirst(5);
    end = endThen;
    expect(await openProcess().start({ position: 3, ...start })).toBe(true);
    expect(await readShown()).toEqual(rows(1, 3));
  });

  it('neither shows nor hides anything while a loss is not proven', async () => {
    await storeFirst(5);
    const doubting = openProcess(identity, () => Promise.reject(new NotProven('not yet')));
    await expect(doubting.start({ position: 3 })).rejects.toThrow(NotProven);
    expect([await readShown(), doubting.run()]).toEqual([rows(1, 5), '']);
  });

  it('begins anew with another stream or fold, and returns to its rows', async () => {
    const first = await storeFirst(5);
    await first.end(5);
    const recreated = openProcess();
    expect(await recreated.start({ streamCreated: 'later' })).toBe(true);
    expect(await readShown({})).toEqual([]);
    const other = { foldVersion: 2, configuration: 'ours' };
    const upgraded = openProcess(other);
    // NATS has the first stream again, of which nothing is shown.
    expect(await upgraded.start()).toBe(true);
    await upgraded.store(1, 2, 2n);
    expect(await readShown(other)).toEqual(rows(1, 2, 2));
    await startProcess({ position: 5, newestPosition: 5 });
    expect(await readShown()).toEqual(rows(1, 5));
  });

  it('continues what its version folded again, which nobody has seen', async () => {
    const first = await storeFirst(6);
    const other = { foldVersion: 2, configuration: 'ours' };
    const killed = await startProcess({}, other);
    await killed.store(1, 4, 2n);
    const paused = openProcess(other);
    expect(await listUsable(paused, [killed.run(), 3], [first.run(), 3])).toEqual([true, false]);
    await paused.start({ position: 3, newestPosition: 3 });
    await paused.store(4, 5, 3n);
    const last = await startProcess({ position: 5, newestPosition: 5 }, other);
    expect([await readShown({}), await readShown(other)]).toEqual([rows(1, 6), []]);
    await last.store(6, 7, 4n);
    await eventually(async () => (await readNewest())?.foldVersion === 2, 'the new version');
    expect(await readShown({})).toEqual([...rows(1, 3, 2), ...rows(4, 5, 3), ...rows(6, 7, 4)]);
    expect((await readNewest())?.reason).toBe('begun');
  });

  it('keeps one lineage through 40 unclean ends with a retention of three messages', async () => {
    const saved: { readonly run: string; readonly position: number }[] = [];
    for (let number = 1; number <= 40; number++) {
      const process = openProcess();
      const isUsable = await process.chooseFrom('now');
      const position = saved.findLast((one) => isUsable(one as never))?.position ?? 0;
      // Without a snapshot that counts, the messages before it would be lost.
      expect(position).toBe(number - 1);
      await process.start({ position, newestPosition: position, firstSequence: Math.max(1, number - 2) });
      saved.push({ run: process.run(), position: number });
      await process.store(number, number + 2, BigInt(number));
      await waitUntilShown(`${number + 2}:${number}`);
      expect(process.runs().length).toBeLessThanOrEqual(runsMax);
    }
    const made = Array.from({ length: 40 }, (_, at) => `${at + 1}:${at + 1}`);
    expect(await readShown()).toEqual([...made, '41:40', '42:40']);
    const noted = await opened.database.select(
      `SELECT reason, count() FROM lineages WHERE ${counting} GROUP BY reason ORDER BY reason`,
    );
    expect(noted.map(String)).toEqual(['begun,1', 'continued,39']);
    const isUsable = await openProcess().chooseFrom('now');
    expect(saved.filter((one) => !isUsable(one as never))).toEqual([]);
    // What a killed process saved above the end of its run does not count.
    const above = saved.slice(0, -1).map((one) => ({ ...one, position: one.position + 1 }));
    expect(above.filter((one) => isUsable(one as never))).toEqual([]);
  });

  it('does not continue a run that rewound', async () => {
    const first = await storeFirst(6, { fault: 'olderSnapshotNeeded' });
    await first.end(6);
    expect(await readNewest()).toMatchObject({ cause: 'counts', reason: 'rewound' });
  });

  it('changes no answer if its writer was paused', async () => {
    const paused = await storeFirst(5);
    const second = await startProcess({ position: 3, newestPosition: 3 });
    await second.store(4, 7, 2n);
    await waitUntilShown('7:2');
    const expected = [...rows(1, 3), ...rows(4, 7, 2)];
    // Batches that were under way, and whatever a process notes that has not learned that it lost the lease.
    await paused.store(4, 9, 3n);
    await paused.end(9);
    await paused.start({ position: 5, newestPosition: 5 });
    await paused.store(6, 9, 4n);
    expect([await readShown(), await readShown({})]).toEqual([expected, expected]);
    const third = await startProcess({ position: 7, newestPosition: 7 });
    await third.store(8, 8, 5n);
    await waitUntilShown('8:5');
    expect(await readShown()).toEqual([...expected, '8:5']);
  });

  describe('after a replay', () => {
    /** Stores rows as a replay does that has made the messages after one again, and notes that. */
    async function replay(after: number, through: number, made: bigint) {
      const current = await readNewest();
      const run = `replay ${made}`;
      await storeRows(opened.database, buildRows(after + 1, through, made), run);
      const runs = cutRuns(current?.runs ?? [], after);
      const filled: Lineage = {
        ...{ ...someLineage, stream, epoch: epoch + 1, holder: run, cause: 'filled', reason: '' },
        runs: [...runs, { run, through: openEnd }],
        position: through,
        continuedRun: findLastRun(runs),
      };
      await noteLineage(opened.database, filled, epoch + 1);
      return run;
    }

    it('continues it once, and shows it when it has folded as far', async () => {
      const first = await storeFirst(6);
      expect(await first.hasReplay()).toBe(false);
      const run = await replay(2, 5, 2n);
      expect([await first.hasReplay(), await readShown()]).toEqual([true, rows(1, 6)]);
      const usable = await listUsable(first, [run, 5], [first.run(), 2], [first.run(), 3]);
      expect(usable).toEqual([true, true, false]);
      await first.start({ position: 5, newestPosition: 5 });
      expect([await first.hasReplay(), await readShown()]).toEqual([false, rows(1, 6)]);
      await first.store(6, 7, 3n);
      await waitUntilShown('7:3');
      expect(await readShown()).toEqual([...rows(1, 2), ...rows(3, 5, 2), ...rows(6, 7, 3)]);
      expect(await readNewest()).toMatchObject({ cause: 'counts', reason: 'replayed', continuedRun: run });
      // Neither this process nor a later one continues it again.
      await first.start({ position: 7, newestPosition: 7 });
      expect((await readNewest())?.reason).toBe('continued');
      const second = await startProcess({ position: 7, newestPosition: 7 });
      expect([await second.hasReplay(), (await readNewest())?.reason]).toEqual([false, 'continued']);
    });

    it('continues it after its restart, and again after a kill before it was shown', async () => {
      const first = await storeFirst(6);
      await first.end(6);
      await replay(0, 4, 2n);
      const killed = await startProcess({ position: 4, newestPosition: 6 });
      await killed.store(5, 5, 3n);
      expect(await readShown()).toEqual(rows(1, 6));
      const second = await startProcess({ position: 4, newestPosition: 6 });
      await second.store(5, 6, 4n);
      await waitUntilShown('6:4');
      expect(await readShown()).toEqual([...rows(1, 4, 2), ...rows(5, 6, 4)]);
    });

    it('still continues it if the first attempt to restore its state fails', async () => {
      const first = await storeFirst(5);
      const run = await replay(0, 5, 2n);
      // ClickHouse does not answer when the snapshot is read, so the restoration begins again.
      for (let attempt = 0; attempt < 2; attempt++) expect(await listUsable(first, [run, 5])).toEqual([true]);
      await first.start({ position: 5, newestPosition: 5 });
      expect(await readNewest()).toMatchObject({ cause: 'counts', reason: 'replayed', continuedRun: run });
    });

    it('does not try a replay a second time whose state it could not restore', async () => {
      const first = await storeFirst(5);
      const run = await replay(2, 5, 2n);
      // The newest snapshot that agrees with the stream is one from before.
      await first.start({ position: 2, newestPosition: 5 });
      expect([await first.hasReplay(), await listUsable(first, [run, 5])]).toEqual([false, [false]]);
      await first.store(3, 5, 3n);
      await waitUntilShown('5:3');
      expect(await readShown()).toEqual([...rows(1, 2), ...rows(3, 5, 3)]);
    });

    it('does not continue it again if the stream lost its end', async () => {
      const first = await storeFirst(6);
      const run = await replay(2, 5, 2n);
      await first.start({ position: 5, newestPosition: 5 });
      await first.start({ position: 2, disagrees: true, fault: 'diverged' });
      expect(await readNewest()).toMatchObject({ cause: 'counts', reason: 'diverged', continuedRun: run });
      await first.store(3, 6, 3n);
      expect(await listUsable(openProcess(), [run, 5], [first.run(), 5])).toEqual([false, true]);
    });
  });
});

it('a process that follows MINER_PIPELINE, of which no rows are stored, restores snapshots of its lineage', async () => {
  const open = () => createLineage('MINER_PIPELINE', identity);
  const readPipeline = () => readLineage(opened.database, 'MINER_PIPELINE');
  const [first, second] = [open(), open()];
  await begin(first, {});
  expect(await readPipeline()).toMatchObject({
    cause: 'counts',
    reason: 'begun',
    runs: [{ run: first.run(), through: openEnd }],
  });
  await begin(second, { position: 3, newestPosition: 3 });
  expect(await readPipeline()).toMatchObject({
    cause: 'counts',
    reason: 'continued',
    runs: [
      { run: first.run(), through: 3 },
      { run: second.run(), through: openEnd },
    ],
    continuedRun: first.run(),
  });
  const usable = await listUsable(open(), [first.run(), 3], [first.run(), 4], [second.run(), 9]);
  expect(usable).toEqual([true, false, true]);
});

it('the run of the newest snapshot is never merged', async () => {
  const { database } = opened;
  const runs = [10, 18, 19, 24, 28, 29].map((through) => ({ run: `to ${through}`, through }));
  const writer = { epoch: 1, holder: 'one', nowMs: 0 };
  const merged = await mergeRuns(database, { ...writer, stream: 'MINER_CHAIN', runs, name: 'merged' });
  expect(merged.map(({ run }) => run)).toEqual(['to 10', 'to 18', 'merged', 'to 28', 'to 29']);
});

it('runs of millions of messages are merged with all of their rows, and no others', async () => {
  const { database } = opened;
  const runs = [1_999_998, 2_000_001, 2_000_003].map((through) => ({ run: `to ${through}`, through }));
  for (const { run, through } of runs) await storeRows(database, buildRows(through - 1, through, 1n), run);
  await mergeRuns(database, { epoch: 1, holder: 'one', nowMs: 0, stream, runs, name: 'merged' });
  for (const { name } of [readings, rounds]) {
    const copied = await database.select(
      `SELECT stored_by FROM ${name} WHERE run = 'merged' ORDER BY stored_by`,
    );
    expect(copied.flat().map(Number)).toEqual([1_999_997, 1_999_998, 2_000_000, 2_000_001]);
  }
});

it('a process of an earlier epoch cannot change what readers see', async () => {
  const { database } = opened;
  const note = (change: Partial<Lineage>) =>
    noteLineage(database, { ...someLineage, epoch: 7, ...change }, 0);
  const readNoted = () => readLineage(database, 'MINER_CHAIN');
  await note({ runs: [] });
  await note({ epoch: 6, step: 9 });
  expect(await readNoted()).toMatchObject({ epoch: 7, runs: [] });
  // Two NATS servers have given one epoch to two processes: both agree on one of them.
  await note({ holder: 'last', reason: 'diverged' });
  await note({ holder: 'first', step: 9 });
  expect(await readNoted()).toMatchObject({ holder: 'last', reason: 'diverged' });
});
