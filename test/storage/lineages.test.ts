import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cutRuns,
  findTip,
  holdsThrough,
  isSameLineage,
  type Lineage,
  type LineageRuns,
  lastRunBegins,
  listLineages,
  noteLineage,
  openEnd,
  readLineage,
  selectWithin,
} from '../../storage/runs/lineages.ts';
import { mergeRuns, readCounted } from '../../storage/runs/mergedRuns.ts';
import { findContinuedReplay, findReplay, isContinued, offerReplay } from '../../storage/runs/replays.ts';
import { createRunsReader } from '../../storage/runs/runsReader.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { openTables, storeRows } from '../support/storage/openTables.ts';
import { storedRows } from '../support/storage/readingRows.ts';
import { someLineage } from '../support/storage/someLineage.ts';
import { someRows } from '../support/storage/someRows.ts';

const stream = 'MINER_COUNTER';
const identity = { foldVersion: 1, configuration: 'ours' };
const writer = { epoch: 1, holder: '', nowMs: 0 };

const ownLineage: Lineage = { ...someLineage, stream, runs: [{ run: 'own', through: openEnd }] };

/** Positions after which one process after another begins a run. Some are killed before they store anything. */
const begins = fc.array(fc.nat(50), { maxLength: 8 });

/** The lineage after these processes. Each makes it from the lineage before it. */
function buildRuns(positions: readonly number[]): LineageRuns {
  let runs: LineageRuns = [{ run: 'run 0', through: openEnd }];
  for (const [at, position] of positions.entries())
    runs = [...cutRuns(runs, position), { run: `run ${at + 1}`, through: openEnd }];
  return runs;
}

/** The run that has the rows of a message, by going through a list one message after another. */
function runOf(runs: LineageRuns, message: number): string | null {
  return runs.find(({ through }) => message <= through)?.run ?? null;
}

const messages = Array.from({ length: 60 }, (_, at) => at + 1);

describe('the runs of a lineage', () => {
  it('have the rows of each message from the last process that began before it', () => {
    fc.assert(
      fc.property(begins, (positions) => {
        const runs = buildRuns(positions);
        for (const message of messages)
          expect(runOf(runs, message)).toBe(
            `run ${positions.findLastIndex((position) => position < message) + 1}`,
          );
        // Processes that were killed at once do not make the list longer.
        expect(runs.every(({ through }, at) => through > (runs[at - 1]?.through ?? 0))).toBe(true);
      }),
    );
  });

  it('have the same rows up to a cut, and none later', () => {
    fc.assert(
      fc.property(begins, fc.nat(60), (positions, position) => {
        const runs = buildRuns(positions);
        const cut = cutRuns(runs, position);
        for (const message of messages)
          expect(runOf(cut, message)).toBe(message <= position ? runOf(runs, message) : null);
        expect(cut.length).toBe(new Set(messages.map((message) => runOf(cut, message)).filter(Boolean)).size);
      }),
    );
  });

  it('are selected if they hold a range of messages', () => {
    fc.assert(
      fc.property(begins, fc.nat(50), fc.integer({ min: 1, max: 9 }), (positions, after, count) => {
        const runs = buildRuns(positions);
        const within = messages.filter((message) => message > after && message <= after + count);
        const holding = new Set(within.map((message) => runOf(runs, message)));
        expect(new Set(selectWithin(runs, after, after + count).map(({ run }) => run))).toEqual(holding);
      }),
    );
  });

  it('hold a run through a message unless it was cut before that', () => {
    fc.assert(
      fc.property(begins, fc.nat(8), fc.integer({ min: 1, max: 60 }), (positions, number, position) => {
        const run = `run ${number}`;
        // A snapshot of a run is of one of its messages.
        const isOfRun = runOf(buildRuns(positions.slice(0, number)), position) === run;
        const isLeft = positions.slice(number).every((later) => position <= later);
        if (number <= positions.length && isOfRun)
          expect(holdsThrough(buildRuns(positions), run, position)).toBe(isLeft);
      }),
    );
    expect(holdsThrough([], '', 0)).toBe(false);
  });

  it('are the same lineage only with the same runs and ends', () => {
    const runs = buildRuns([3, 7]);
    expect(isSameLineage(runs, runs)).toBe(true);
    expect(isSameLineage(runs, buildRuns([3, 7]))).toBe(true);
    const others = [
      runs.slice(1),
      runs.slice(0, -1),
      [...runs, { run: 'run 3', through: openEnd }],
      buildRuns([3, 8]),
      runs.map((one, at) => (at === 1 ? { ...one, run: 'other' } : one)),
      runs.toReversed(),
      [],
    ];
    for (const other of others)
      expect([isSameLineage(runs, other), isSameLineage(other, runs)]).toEqual([false, false]);
  });

  it('say where the last one begins', () => {
    expect([[], buildRuns([]), buildRuns([3, 7])].map(lastRunBegins)).toEqual([0, 0, 7]);
  });
});

describe('the newest message that stored rows', () => {
  it('is found in each table, and only in runs that count there', async () => {
    const { database } = await openTables();
    const { event, claim } = someRows;
    const runs = [
      { run: 'first', through: 10 },
      { run: 'second', through: openEnd },
    ];
    const [bucket] = storedRows(60, 1).buckets;
    if (bucket === undefined) throw new Error('no bucket');
    expect(await findTip(database, { stream, runs })).toBe(0);
    const counter = [
      { readings: [acceptedReading({ position: 11 })] },
      { rounds: storedRows(60, 1).rounds.map((round) => ({ ...round, position: 12 })) },
      { buckets: [{ ...bucket, position: 13 }] },
      // Stored long after the message that it names.
      { measurementEvents: [{ ...event, position: 3, storedBy: 14 }] },
    ];
    for (const [at, rows] of counter.entries()) {
      await storeRows(database, rows, 'second');
      expect(await findTip(database, { stream, runs })).toBe(11 + at);
    }
    await storeRows(database, { readings: [acceptedReading({ position: 20 })] }, 'first');
    await storeRows(database, { readings: [acceptedReading({ position: 30 })] }, 'other');
    await storeRows(database, { chainEvents: [{ ...event, category: 'protocol', storedBy: 40 }] }, 'second');
    expect(await findTip(database, { stream, runs })).toBe(14);
    await storeRows(database, { ownerActivity: [{ ...claim, storedBy: 41 }] }, 'second');
    expect(await findTip(database, { stream: 'MINER_CHAIN', runs })).toBe(41);
    // Of this stream nothing but snapshots is stored.
    expect(await findTip(database, { stream: 'MINER_PIPELINE', runs }, 7)).toBe(7);
  });
});

it('snapshots of merged runs count as far as their copies', async () => {
  const { database } = await openTables();
  const original = buildRuns([10, 20, 30, 60, 70]);
  const ofPipeline = { stream: 'MINER_PIPELINE', ...writer } as const;
  let runs = original;
  for (const name of ['merged', 'merged again'])
    runs = await mergeRuns(database, { ...ofPipeline, runs, name });
  // A copy that a kill cut off.
  await mergeRuns(database, { ...ofPipeline, runs: original, name: 'unnamed' });
  expect(runs.map(({ run, through }) => `${run} ${through}`)).toEqual([
    'merged again 30',
    'run 3 60',
    'run 4 70',
    `run 5 ${openEnd}`,
  ]);
  const listCounted = async (of: LineageRuns) => {
    const isCounted = await readCounted(database, { stream: 'MINER_PIPELINE', runs: of });
    return original
      .slice(0, -1)
      .flatMap(({ run, through }) =>
        [through - 5, through, through + 1].filter((position) => isCounted({ run, position })),
      );
  };
  expect(await listCounted(runs)).toEqual([5, 10, 15, 20, 25, 30, 55, 60, 65, 70]);
  expect(await listCounted(cutRuns(runs, 25))).toEqual([5, 10, 15, 20, 25]);
  expect(await listCounted([{ run: 'merged', through: openEnd }])).toEqual([5, 10, 15, 20]);
  expect(await listCounted([])).toEqual([]);
  expect((await readCounted(database, null))({ run: 'run 0', position: 1 })).toBe(false);
  expect(await readLineage(database, 'MINER_PIPELINE')).toBeNull();
});

describe('what a replay notes', () => {
  /** The lineage that it notes once everything is stored: all after `position` of a lineage is made again. */
  const filled = (number: number, change: Partial<Lineage> = {}): Lineage => ({
    ...ownLineage,
    epoch: 5,
    holder: `replay ${number}`,
    step: number,
    cause: 'filled',
    runs: [
      { run: 'own', through: 4 },
      { run: `replay ${number}`, through: openEnd },
    ],
    continuedRun: 'own',
    ...change,
  });

  async function open() {
    const { database } = await openTables();
    let notedAtMs = 0;
    return {
      database,
      note: async (...notes: readonly Lineage[]) => {
        for (const one of notes) await noteLineage(database, one, ++notedAtMs);
      },
      find: async (current: Lineage | null = ownLineage, of = identity, streamCreated = 'now') =>
        (await findReplay(database, stream, { ...of, streamCreated }, current))?.runs.at(-1)?.run ?? null,
      findContinued: () => findContinuedReplay(database, stream, identity),
    };
  }

  it('decides nothing, also if it is the newest', async () => {
    const { database, note } = await open();
    await note(ownLineage, filled(1, { cause: 'filling', epoch: 9 }), filled(1, { epoch: 9, step: 2 }));
    expect((await readLineage(database, stream))?.runs).toEqual(ownLineage.runs);
    expect((await readLineage(database, stream, identity))?.runs).toEqual(ownLineage.runs);
    const readRuns = createRunsReader({ database, stream, identity, clock: { monotonicMs: () => 0 } });
    expect(await readRuns()).toEqual(ownLineage.runs);
  });

  it('is continued while it is filled, and not while it is filling', async () => {
    const { database, note, find, findContinued } = await open();
    await note(ownLineage, filled(1, { cause: 'filling' }));
    expect([await find(), await findContinued()]).toEqual([null, '']);
    await note(filled(1));
    expect([await find(), await findContinued()]).toEqual(['replay 1', '']);
    const origin = { ...identity, streamCreated: 'now' };
    const list = async (cause: 'filling' | 'filled') =>
      (await listLineages(database, stream, cause, origin)).length;
    expect([await list('filling'), await list('filled')]).toEqual([1, 1]);
  });

  it('is continued once', async () => {
    const { database, note, find, findContinued } = await open();
    // An older one of the same time is left out, before and after.
    await note(ownLineage, filled(0), filled(1));
    expect(await find()).toBe('replay 1');
    const continued: Lineage = {
      ...{ ...ownLineage, reason: 'replayed', step: 2, continuedRun: 'replay 1' },
      runs: [...cutRuns(filled(1).runs, 6), { run: 'next', through: openEnd }],
    };
    expect(await isContinued(database, filled(1))).toBe(false);
    // Another replay that continues it does not decide.
    await note({ ...continued, cause: 'filling' });
    expect(await isContinued(database, filled(1))).toBe(false);
    await note(continued);
    expect(await isContinued(database, filled(1))).toBe(true);
    expect([await find(continued), await findContinued()]).toEqual([null, 'replay 1']);
    // Also once later starts no longer have rows of it.
    const last = [{ run: 'last', through: openEnd }];
    await note({ ...ownLineage, step: 3, reason: 'diverged', runs: last });
    expect([await find(), await findContinued()]).toEqual([null, 'replay 1']);
  });

  it('is offered with the rows that it has made, behind every earlier one', async () => {
    const { database, note, find } = await open();
    await note(ownLineage);
    for (const number of [1, 2]) {
      const offer = filled(number, { cause: 'filling', step: 1 });
      const offered = await offerReplay(database, offer, { position: 9, nowMs: 0 });
      expect([offered.step, offered.runs.at(-1)?.through]).toEqual([number, 9]);
    }
    expect(await find()).toBe('replay 2');
  });

  it('is not continued once what it has not made again was cut or replaced', async () => {
    const { note, find } = await open();
    await note(ownLineage, filled(1));
    const of = (runs: LineageRuns) => find({ ...ownLineage, runs });
    expect(await of([{ run: 'own', through: 4 }])).toBe('replay 1');
    expect(await of([{ run: 'own', through: 3 }])).toBeNull();
    expect(await of([{ run: 'other', through: openEnd }])).toBeNull();
    expect(await find(null)).toBeNull();
    // One that has made everything again depends on nothing.
    await note(filled(2, { runs: [{ run: 'whole', through: openEnd }], continuedRun: '' }));
    expect([await of([]), await find(null)]).toEqual(['whole', 'whole']);
  });

  it.each<[string, Partial<Lineage>]>([
    ['another version', { foldVersion: 2 }],
    ['another deployment', { configuration: 'theirs' }],
    ['another stream of this name', { streamCreated: 'earlier' }],
    ['another stream', { stream: 'MINER_CHAIN' }],
  ])('is not continued by a process of %s', async (_, change) => {
    const { note, find } = await open();
    await note(ownLineage, filled(1, change));
    expect(await find()).toBeNull();
  });
});
