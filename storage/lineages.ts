import type { FoldIdentity } from '../actors/foldIdentity.ts';
import type { InputStreamName } from '../actors/messages/subjects.ts';
import type { Database, RowCondition } from './database.ts';
import { rowTablesOf } from './rowTables.ts';
import type { EpochHolder } from './tables/ingestEpochs.ts';
import { type LineageCause, type LineageRow, lineages, sideCauses } from './tables/lineages.ts';
import { insertRows } from './tables/table.ts';

/** The end of a run whose rows all count. */
export const openEnd = Number.MAX_SAFE_INTEGER;

/** Rows that one process stored, through one of its messages. Rows of later messages do not count. */
export interface VisibleRun {
  readonly run: string;
  readonly through: number;
}

/** Runs whose rows together are the history of a stream, oldest first. */
export type VisibleRuns = readonly VisibleRun[];

/** Decides which rows of a stream count. Rows are only ever added: a row that no longer counts is one that no lineage names. */
export interface Lineage extends FoldIdentity, EpochHolder {
  readonly stream: InputStreamName;
  readonly step: number;
  readonly cause: LineageCause;
  readonly runs: VisibleRuns;
  readonly streamCreated: string;
  /** Last folded message when it was noted. */
  readonly position: number;
  /** The last run that it continues; empty for none. */
  readonly parent: string;
}

/** A lineage that says something of runs, whatever made them. */
export const ofNoFold = { foldVersion: 0, configuration: '', streamCreated: '', position: 0, parent: '' };

/** Fold and stream that a lineage is looked for by. */
export interface LineageOrigin extends Partial<FoldIdentity> {
  readonly streamCreated?: string;
}

/** Condition for the lineages of a stream, or of some fold of it. */
function selectOf(
  stream: InputStreamName,
  { foldVersion, configuration, streamCreated }: LineageOrigin,
): RowCondition {
  const ofFold =
    configuration === undefined
      ? ''
      : ' AND fold_version = {foldVersion:Int64} AND configuration = {configuration:String}';
  const ofStream = streamCreated === undefined ? '' : ' AND stream_created = {streamCreated:String}';
  return {
    sql: `stream = {stream:String}${ofFold}${ofStream}`,
    parameters: {
      stream,
      foldVersion: foldVersion ?? 0,
      configuration: configuration ?? '',
      streamCreated: streamCreated ?? '',
    },
  };
}

/** Lineages that decide which rows count. */
export const decides = sideCauses.map((cause) => `cause != '${cause}'`).join(' AND ');

/** The newest lineage of a stream, or the newest one of some fold; null without one, or if its rows may be dropped already. */
export async function readLineage(
  database: Database,
  stream: InputStreamName,
  origin: LineageOrigin = {},
): Promise<Lineage | null> {
  const found = await findNewest(database, stream, origin);
  if (found === null || !(await isRetired(database, found))) return found;
  // The newest history counts, although a process that did not know it has retired its run.
  const newest = await findNewest(database, stream);
  return newest?.epoch === found.epoch && newest.step === found.step ? found : null;
}

async function findNewest(
  database: Database,
  stream: InputStreamName,
  origin: LineageOrigin = {},
): Promise<Lineage | null> {
  const { sql, parameters } = selectOf(stream, origin);
  const [row] = await database.select(
    `SELECT ${lineages.list} FROM ${lineages.name} WHERE ${sql} AND ${decides}
     ORDER BY epoch DESC, holder DESC, step DESC LIMIT 1`,
    parameters,
  );
  return row === undefined ? null : toLineage(lineages.read(row));
}

/**
 * What a process of this fold continues: the history, or without one what an earlier process has folded again, which no reader has seen yet. Null without
 * either.
 */
export async function readContinued(
  database: Database,
  stream: InputStreamName,
  origin: LineageOrigin,
): Promise<Lineage | null> {
  const history = await readLineage(database, stream, origin);
  if (history !== null) return history;
  const [pending] = await listLineages(database, stream, 'pending', origin);
  return pending === undefined || (await isRetired(database, pending)) ? null : pending;
}

/** Lineages that were noted for a cause, the newest first. */
export async function listLineages(
  database: Database,
  stream: InputStreamName,
  cause: LineageCause,
  origin: LineageOrigin = {},
): Promise<Lineage[]> {
  const { sql, parameters } = selectOf(stream, origin);
  const rows = await database.select(
    `SELECT ${lineages.list} FROM ${lineages.name} WHERE ${sql} AND cause = {cause:String}
     ORDER BY epoch DESC, step DESC`,
    { ...parameters, cause },
  );
  return rows.map((row) => toLineage(lineages.read(row)));
}

/** Whether the rows of a lineage may be dropped already. */
export async function isRetired(database: Database, { runs }: Lineage): Promise<boolean> {
  const rows = await database.select(
    `SELECT step FROM ${lineages.name} WHERE cause = 'retired' AND has(runs, {run:String}) LIMIT 1`,
    { run: findLastRun(runs) },
  );
  return rows.length > 0;
}

function toLineage({ runs, throughs, ...row }: LineageRow): Lineage {
  return { ...row, runs: runs.map((run, at) => ({ run, through: throughs[at] ?? 0 })) };
}

export async function noteLineage(
  database: Database,
  { runs, ...lineage }: Lineage,
  notedAtMs: number,
): Promise<void> {
  const lists = { runs: runs.map(({ run }) => run), throughs: runs.map(({ through }) => through) };
  await insertRows(database, lineages, [{ ...lineage, ...lists, notedAtMs }]);
}

/** The rows of messages up to a position. A run that begins after it has none. */
export function cutRuns(runs: VisibleRuns, position: number): VisibleRuns {
  const startOf = (at: number) => runs[at - 1]?.through ?? 0;
  return runs
    .filter((_, at) => startOf(at) < position)
    .map(({ run, through }) => ({ run, through: Math.min(through, position) }));
}

/** Name of the last run; empty without one. */
export function findLastRun(runs: VisibleRuns): string {
  return runs.at(-1)?.run ?? '';
}

/** The message after which the last run begins. */
export function lastRunBegins(runs: VisibleRuns): number {
  return runs.at(-2)?.through ?? 0;
}

export function isSameHistory(one: VisibleRuns, other: VisibleRuns): boolean {
  const isSame = ({ run, through }: VisibleRun, at: number) =>
    other[at]?.run === run && other[at]?.through === through;
  return one === other || (one.length === other.length && one.every(isSame));
}

/** Whether the history has the rows of a run through a position. */
export function holdsThrough(runs: VisibleRuns, run: string, position: number): boolean {
  return runs.some((one) => one.run === run && position <= one.through);
}

/** The runs with rows of messages after a position through another. */
export function selectWithin(runs: VisibleRuns, after: number, through: number): VisibleRuns {
  return runs.filter((one, at) => (runs[at - 1]?.through ?? 0) < through && one.through > after);
}

/**
 * SQL condition for the rows that count.
 *
 * @param from distinguishes the parameters of several conditions: those of this one have this number and the next ones.
 */
export function selectVisible(runs: VisibleRuns, from = 0): RowCondition {
  if (runs.length === 0) return { sql: 'false', parameters: {} };
  const conditions = runs.map((one, at) => selectRun(one, from + at));
  return {
    sql: `(${conditions.map(({ sql }) => sql).join(' OR ')})`,
    parameters: Object.assign({}, ...conditions.map(({ parameters }) => parameters)),
  };
}

/** @param at distinguishes the parameters of several conditions. */
export function selectRun({ run, through }: VisibleRun, at = 0): RowCondition {
  const isOfRun = `run = {run${at}:String}`;
  if (through === openEnd) return { sql: isOfRun, parameters: { [`run${at}`]: run } };
  return {
    sql: `(${isOfRun} AND stored_by <= {through${at}:UInt64})`,
    parameters: { [`run${at}`]: run, [`through${at}`]: through },
  };
}

/** Sequence of the newest message after a position that stored a row which counts; the position if none did. */
export async function findTip(
  database: Database,
  { stream, runs }: Pick<Lineage, 'stream' | 'runs'>,
  after = 0,
): Promise<number> {
  const { sql, parameters } = selectVisible(selectWithin(runs, after, openEnd));
  const tips = await Promise.all(
    rowTablesOf(stream).map(({ definition }) =>
      database.select(
        `SELECT max(stored_by) FROM ${definition.name} WHERE ${sql} AND stored_by > {after:UInt64}`,
        { ...parameters, after },
      ),
    ),
  );
  return Math.max(after, ...tips.map(([row]) => Number(row?.[0] ?? 0)));
}
