import type { FoldIdentity } from '../../actors/folds/foldIdentity.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import type { Database } from '../clickhouse/database.ts';
import { lineages } from '../tables/lineages.ts';
import {
  counting,
  cutRuns,
  findLastRun,
  findNewest,
  hasLineage,
  isRetired,
  type Lineage,
  type LineageOrigin,
  type LineageRuns,
  listLineages,
  noteLineage,
  readLineage,
} from './lineages.ts';
import { type IsCounted, readCopied, readCounted, selectCounted } from './mergedRuns.ts';
import { dropRun } from './retiredRuns.ts';

/** Whether a lineage that counts continues this one. */
export function isContinued(database: Database, { stream, runs }: Lineage): Promise<boolean> {
  const sql = `stream = {stream:String} AND continued_run = {run:String} AND ${counting}`;
  return hasLineage(database, { sql, parameters: { stream, run: findLastRun(runs) } });
}

/**
 * The newest replay that no lineage continues yet, if the rows that it did not make again still count in the given lineage.
 */
export async function findReplay(
  database: Database,
  stream: InputStreamName,
  origin: LineageOrigin,
  current: Lineage | null,
): Promise<Lineage | null> {
  for (const replay of await listLineages(database, stream, 'filled', origin)) {
    if ((await isContinued(database, replay)) || (await isRetired(database, replay))) return null;
    if (isKeptBy(replay, await readCounted(database, current))) return replay;
  }
  return null;
}

/** The runs that a replay continues: it has made the rows of all later messages. */
function selectKept({ runs, continuedRun }: Pick<Lineage, 'runs' | 'continuedRun'>): LineageRuns {
  return runs.slice(0, runs.findIndex(({ run }) => run === continuedRun) + 1);
}

/** The runs that a replay has made itself. */
export function selectReplayed(filled: Pick<Lineage, 'runs' | 'continuedRun'>): LineageRuns {
  return filled.runs.slice(selectKept(filled).length);
}

/** Drops what a replay has stored, if nobody continues it. */
export async function dropReplay(database: Database, filled: Lineage): Promise<void> {
  for (const { run } of selectReplayed(filled)) await dropRun(database, run);
}

/** Whether a lineage has the rows that a replay continues. */
export function isKeptBy(filled: Pick<Lineage, 'runs' | 'continuedRun'>, isCounted: IsCounted): boolean {
  return selectKept(filled).every(({ run, through }) => isCounted({ run, position: through }));
}

/** Name of the replay that lineages of a fold continued last; empty without one. */
export async function findContinuedReplay(
  database: Database,
  stream: InputStreamName,
  identity: FoldIdentity,
): Promise<string> {
  const newest = await findNewest(database, stream, identity, "reason = 'replayed'");
  return newest?.continuedRun ?? '';
}

/** The message after which a replay has made all rows; 0 for the beginning of the stream. */
export function findReplayBase(filled: Pick<Lineage, 'runs' | 'continuedRun'>): number {
  return selectKept(filled).at(-1)?.through ?? 0;
}

interface ReplayEnd {
  /** The last message whose rows it has made. */
  readonly position: number;
  readonly nowMs: number;
}

/** Offers the result of a replay to the process that ingests, behind every earlier one. */
export async function offerReplay(
  database: Database,
  replay: Lineage,
  { position, nowMs }: ReplayEnd,
): Promise<Lineage> {
  const offers = await listLineages(database, replay.stream, 'filled');
  const offered: Lineage = {
    ...replay,
    cause: 'filled',
    runs: cutRuns(replay.runs, position),
    position,
    step: Math.max(0, ...offers.map(({ step }) => step)) + 1,
  };
  await noteLineage(database, offered, nowMs);
  return offered;
}

/** Finds out which snapshots a process that ingests restores: snapshots of the current lineage, and of a replay that it has not continued yet. */
export async function findRestorable(database: Database, stream: InputStreamName): Promise<IsCounted> {
  const current = await readLineage(database, stream);
  const isCurrent = await readCounted(database, current);
  const isNext = await readCounted(database, await findReplay(database, stream, current ?? {}, current));
  return (snapshot) => isCurrent(snapshot) || isNext(snapshot);
}

const origins = lineages.select('foldVersion', 'configuration', 'streamCreated');

/**
 * Finds out for each lineage that a process may continue which snapshots count in it: for the newest one of each fold and stream, for what has been folded
 * and is not shown yet, and for the own runs of replays.
 */
export async function listContinuable(database: Database, stream: InputStreamName): Promise<IsCounted[]> {
  const copied = await readCopied(database, stream);
  const replays = await listLineages(database, stream, 'filling');
  const found: (Pick<Lineage, 'runs'> | null)[] = replays.map((one) => ({ runs: selectReplayed(one) }));
  const rows = await database.select(
    `SELECT DISTINCT ${origins.list} FROM ${lineages.name} WHERE stream = {stream:String}`,
    { stream },
  );
  for (const origin of rows.map(origins.read)) {
    const lineage = await readLineage(database, stream, origin);
    const [pending = null] = await listLineages(database, stream, 'pending', origin);
    found.push(lineage, pending, await findReplay(database, stream, origin, lineage));
  }
  return found.flatMap((lineage) => (lineage === null ? [] : [selectCounted(lineage, copied)]));
}
