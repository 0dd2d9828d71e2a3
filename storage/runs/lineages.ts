import { type FoldIdentity, isOfFold } from '../../actors/folds/foldIdentity.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import type { Database, RowCondition } from '../clickhouse/database.ts';
import { insertRows } from '../definition/table.ts';
import { countingCauses, type LineageCause, type LineageRow, lineages } from '../tables/lineages.ts';
import { rowTablesOf } from '../tables/rowTables.ts';

/** The end of a run whose rows all count. */
export const openEnd = Number.MAX_SAFE_INTEGER;

/** A run through one of its messages. Its rows of later messages do not belong to the lineage. */
export interface LineageRun {
  readonly run: string;
  readonly through: number;
}

/** Runs whose rows together are the rows of a stream, oldest first. */
export type LineageRuns = readonly LineageRun[];

/** Says which rows of a stream belong together. Rows are only ever added: a row stops counting when the newest lineage no longer names it. */
export interface Lineage extends Omit<LineageRow, 'runs' | 'throughs' | 'notedAtMs'> {
  readonly runs: LineageRuns;
}

/** A lineage that says something of runs of any fold. */
export const ofNoFold = {
  reason: '',
  foldVersion: 0,
  configuration: '',
  streamCreated: '',
  position: 0,
  continuedRun: '',
} as const;

/** Fold and stream that a lineage is looked for by. */
export interface LineageOrigin extends Partial<FoldIdentity> {
  readonly streamCreated?: string;
}

/** The lineages of a stream, or of some fold of it, that meet a condition. */
async function selectLineages(
  database: Database,
  stream: InputStreamName,
  { foldVersion = 0, configuration = '', streamCreated = '' }: LineageOrigin,
  { sql, parameters }: RowCondition,
): Promise<Lineage[]> {
  const ofFold = 'fold_version = {foldVersion:Int64} AND configuration = {configuration:String}';
  const conditions = [
    'stream = {stream:String}',
    ...(configuration === '' ? [] : [ofFold]),
    ...(streamCreated === '' ? [] : ['stream_created = {streamCreated:String}']),
    sql,
  ];
  const rows = await database.select(
    `SELECT ${lineages.list} FROM ${lineages.name} WHERE ${conditions.join(' AND ')}`,
    { ...parameters, stream, foldVersion, configuration, streamCreated },
  );
  return rows.map((row) => {
    const { runs, throughs, ...lineage } = lineages.read(row);
    return { ...lineage, runs: runs.map((run, at) => ({ run, through: throughs[at] ?? 0 })) };
  });
}

/** SQL condition of the lineages that count. */
export const counting = `cause IN (${countingCauses.map((cause) => `'${cause}'`).join(', ')})`;

/** The newest lineage of a stream that counts, or the newest one of some fold; null without one, or if its rows may be dropped already. */
export async function readLineage(
  database: Database,
  stream: InputStreamName,
  origin: LineageOrigin = {},
): Promise<Lineage | null> {
  const newest = await findNewest(database, stream);
  // The newest one counts, even if a process that did not know it has retired its run.
  if (newest === null || isOfOrigin(newest, origin)) return newest;
  const found = await findNewest(database, stream, origin);
  return found === null || (await isRetired(database, found)) ? null : found;
}

function isOfOrigin(lineage: Lineage, origin: LineageOrigin): boolean {
  const { foldVersion, configuration, streamCreated } = { ...lineage, ...origin };
  return isOfFold(lineage, { foldVersion, configuration }) && lineage.streamCreated === streamCreated;
}

/** The newest lineage that counts, of some fold and with a condition if given; null without one. */
export async function findNewest(
  database: Database,
  stream: InputStreamName,
  origin: LineageOrigin = {},
  condition = 'true',
): Promise<Lineage | null> {
  const sql = `${counting} AND ${condition} ORDER BY epoch DESC, holder DESC, step DESC LIMIT 1`;
  const [newest = null] = await selectLineages(database, stream, origin, { sql, parameters: {} });
  return newest;
}

/**
 * The lineage that a process of this fold continues: the newest one that counts. Without one, a pending one of a killed rebuild. Null without either.
 */
export async function readContinued(
  database: Database,
  stream: InputStreamName,
  origin: LineageOrigin,
): Promise<Lineage | null> {
  const lineage = await readLineage(database, stream, origin);
  if (lineage !== null) return lineage;
  const [pending] = await listLineages(database, stream, 'pending', origin);
  return pending === undefined || (await isRetired(database, pending)) ? null : pending;
}

/** Lineages that were noted for a cause, the newest first. */
export function listLineages(
  database: Database,
  stream: InputStreamName,
  cause: LineageCause,
  origin: LineageOrigin = {},
): Promise<Lineage[]> {
  const sql = 'cause = {cause:String} ORDER BY epoch DESC, step DESC';
  return selectLineages(database, stream, origin, { sql, parameters: { cause } });
}

/** Whether a lineage of any stream meets a condition. */
export async function hasLineage(database: Database, { sql, parameters }: RowCondition): Promise<boolean> {
  const rows = await database.select(`SELECT step FROM ${lineages.name} WHERE ${sql} LIMIT 1`, parameters);
  return rows.length > 0;
}

/** Whether the rows of a lineage may be dropped already. */
export function isRetired(database: Database, { runs }: Lineage): Promise<boolean> {
  const sql = "cause = 'retired' AND has(runs, {run:String})";
  return hasLineage(database, { sql, parameters: { run: findLastRun(runs) } });
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
export function cutRuns(runs: LineageRuns, position: number): LineageRuns {
  const startOf = (at: number) => runs[at - 1]?.through ?? 0;
  return runs
    .filter((_, at) => startOf(at) < position)
    .map(({ run, through }) => ({ run, through: Math.min(through, position) }));
}

/** Name of the last run; empty without one. */
export function findLastRun(runs: LineageRuns): string {
  return runs.at(-1)?.run ?? '';
}

/** The message after which the last run begins. */
export function lastRunBegins(runs: LineageRuns): number {
  return runs.at(-2)?.through ?? 0;
}

export function isSameLineage(one: LineageRuns, other: LineageRuns): boolean {
  const isSame = ({ run, through }: LineageRun, at: number) =>
    other[at]?.run === run && other[at]?.through === through;
  return one === other || (one.length === other.length && one.every(isSame));
}

/** Whether the lineage has the rows of a run through a position. */
export function holdsThrough(runs: LineageRuns, run: string, position: number): boolean {
  return runs.some((one) => one.run === run && position <= one.through);
}

/** The runs with rows of messages after a position through another. */
export function selectWithin(runs: LineageRuns, after: number, through: number): LineageRuns {
  return runs.filter((one, at) => (runs[at - 1]?.through ?? 0) < through && one.through > after);
}

/**
 * SQL condition for the rows that count.
 *
 * @param from distinguishes the parameters of several conditions: the parameters of this condition have this number and the next ones.
 */
export function selectRuns(runs: LineageRuns, from = 0): RowCondition {
  if (runs.length === 0) return { sql: 'false', parameters: {} };
  const conditions = runs.map((one, at) => selectRun(one, from + at));
  return {
    sql: `(${conditions.map(({ sql }) => sql).join(' OR ')})`,
    parameters: Object.assign({}, ...conditions.map(({ parameters }) => parameters)),
  };
}

/** @param at distinguishes the parameters of several conditions. */
export function selectRun({ run, through }: LineageRun, at = 0): RowCondition {
  const isOfRun = `run = {run${at}:String}`;
  if (through === openEnd) return { sql: isOfRun, parameters: { [`run${at}`]: run } };
  return {
    sql: `(${isOfRun} AND stored_by <= {through${at}:UInt64})`,
    parameters: { [`run${at}`]: run, [`through${at}`]: through },
  };
}

/** SQL condition for the rows that count of the messages after a position, which may be -1, through another. */
export function selectMessages(
  runs: LineageRuns,
  { after, through }: { readonly after: number; readonly through: number },
  from = 0,
): RowCondition {
  const { sql, parameters } = selectRuns(runs, from);
  return {
    sql: `${sql} AND stored_by > {after:Int64} AND stored_by <= {through:Int64}`,
    parameters: { ...parameters, after, through },
  };
}

/** Sequence of the newest message after a position that stored a row which counts; the position if none did. */
export async function findTip(
  database: Database,
  { stream, runs }: Pick<Lineage, 'stream' | 'runs'>,
  after = 0,
): Promise<number> {
  const range = { after, through: openEnd };
  const { sql, parameters } = selectMessages(selectWithin(runs, after, openEnd), range);
  const statements = rowTablesOf(stream).map(
    ({ definition }) => `SELECT max(stored_by) FROM ${definition.name} WHERE ${sql}`,
  );
  if (statements.length === 0) return after;
  const tips = await database.select(statements.join(' UNION ALL '), parameters);
  return Math.max(after, ...tips.map(([tip]) => Number(tip)));
}
