import type { InputStreamName } from '../actors/messages/subjects.ts';
import type { Database } from './database.ts';
import {
  cutRuns,
  findLastRun,
  findReplay,
  type IsCounted,
  type Lineage,
  type LineageOrigin,
  listFilled,
  noteLineage,
  openEnd,
  readLineage,
  selectCounted,
  selectKept,
} from './lineages.ts';

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
    await listFilled(database, stream, 'filling', origin),
    await listFilled(database, stream, 'filled', origin),
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
  const [isCurrent, isNext] = [current, replay].map((lineage) => selectCounted(lineage?.runs ?? []));
  return (snapshot) => isCurrent?.(snapshot) === true || isNext?.(snapshot) === true;
}
