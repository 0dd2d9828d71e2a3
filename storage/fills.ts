import type { InputStreamName } from '../actors/messages/subjects.ts';
import type { Database } from './database.ts';
import {
  cutRuns,
  decides,
  findLastRun,
  isRetired,
  type Lineage,
  type LineageOrigin,
  listLineages,
  noteLineage,
  openEnd,
  readLineage,
  type VisibleRuns,
} from './lineages.ts';
import { type IsCounted, readCounted } from './mergedRuns.ts';
import { lineages } from './tables/lineages.ts';

/** Whether a lineage that decides which rows count continues this one. */
export async function isContinued(database: Database, { stream, runs }: Lineage): Promise<boolean> {
  const rows = await database.select(
    `SELECT step FROM ${lineages.name} WHERE stream = {stream:String} AND parent = {run:String} AND ${decides} LIMIT 1`,
    { stream, run: findLastRun(runs) },
  );
  return rows.length > 0;
}

/**
 * The newest replay that no lineage continues yet, if what it has not made again still counts in the given lineage.
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

/** The runs that a fill continues: it has made the rows of all later messages. */
export function selectKept({ runs, parent }: Pick<Lineage, 'runs' | 'parent'>): VisibleRuns {
  return runs.slice(0, runs.findIndex(({ run }) => run === parent) + 1);
}

/** Whether a history has the rows that a fill continues. */
export function isKeptBy(filled: Pick<Lineage, 'runs' | 'parent'>, isCounted: IsCounted): boolean {
  return selectKept(filled).every(({ run, through }) => isCounted({ run, position: through }));
}

/** Name of the newest replay that a lineage continues; empty without one. */
export async function findContinuedReplay(
  database: Database,
  stream: InputStreamName,
  origin: LineageOrigin,
): Promise<string> {
  for (const replay of await listLineages(database, stream, 'filled', origin))
    if (await isContinued(database, replay)) return findLastRun(replay.runs);
  return '';
}

/** The message after which a fill has made all rows; 0 for the beginning of the stream. */
export function findFillBase(filled: Pick<Lineage, 'runs' | 'parent'>): number {
  return selectKept(filled).at(-1)?.through ?? 0;
}

/** Fills that have neither ended nor been resumed by another one, newest first. They are under way, or were stopped. */
export async function listUnfinished(
  database: Database,
  stream: InputStreamName,
  origin: LineageOrigin = {},
): Promise<Lineage[]> {
  const [filling, filled] = [
    await listLineages(database, stream, 'filling', origin),
    await listLineages(database, stream, 'filled', origin),
  ];
  const closed = new Set<string>();
  for (const { runs } of [...filling, ...filled])
    for (const { run, through } of runs) if (through !== openEnd) closed.add(run);
  return filling.filter(({ runs }) => !closed.has(findLastRun(runs)));
}

/** Notes the end of a fill, which nobody resumes any more: its result through a position counts next, or never. */
export async function noteFillEnd(
  database: Database,
  filled: Lineage,
  {
    position,
    counts,
    nowMs,
  }: { readonly position: number; readonly counts: boolean; readonly nowMs: number },
): Promise<Lineage> {
  const ended: Lineage = {
    ...filled,
    cause: counts ? 'filled' : 'filling',
    runs: cutRuns(filled.runs, position),
    position,
    step: filled.step + 1,
  };
  await noteLineage(database, ended, nowMs);
  return ended;
}

/** Finds out which snapshots a process that ingests restores: those of the current history, and of a replay that it has not continued yet. */
export async function findRestorable(
  database: Database,
  stream: InputStreamName,
  origin: LineageOrigin,
): Promise<IsCounted> {
  const current = await readLineage(database, stream, origin);
  const replay = await findReplay(database, stream, origin, current);
  const isCurrent = await readCounted(database, current);
  const isNext = await readCounted(database, replay);
  return (snapshot) => isCurrent(snapshot) || isNext(snapshot);
}
