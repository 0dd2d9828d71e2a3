import type { FoldIdentity } from '../actors/foldIdentity.ts';
import type { InputStreamName } from '../actors/messages/subjects.ts';
import type { Database, RowCondition } from './database.ts';
import { listRowTables, rowTablesOf } from './rowTables.ts';
import type { EpochHolder } from './tables/ingestEpochs.ts';
import { type LineageCause, type LineageRow, lineages } from './tables/lineages.ts';
import { insertRows } from './tables/table.ts';
import type { Tables } from './tables.ts';

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
}

/** Fold and stream that a lineage is looked for by. */
interface LineageOrigin extends Partial<FoldIdentity> {
  readonly streamCreated?: string;
}

/** The newest lineage of a stream, or the newest one of some fold; null without one. */
export async function readLineage(
  database: Database,
  stream: InputStreamName,
  { foldVersion, configuration, streamCreated }: LineageOrigin = {},
): Promise<Lineage | null> {
  const ofFold =
    configuration === undefined
      ? ''
      : ' AND fold_version = {foldVersion:Int64} AND configuration = {configuration:String}';
  const ofStream = streamCreated === undefined ? '' : ' AND stream_created = {streamCreated:String}';
  const [row] = await database.select(
    `SELECT ${lineages.list} FROM ${lineages.name} WHERE stream = {stream:String}${ofFold}${ofStream}
     ORDER BY epoch DESC, holder DESC, step DESC LIMIT 1`,
    {
      stream,
      foldVersion: foldVersion ?? 0,
      configuration: configuration ?? '',
      streamCreated: streamCreated ?? '',
    },
  );
  return row === undefined ? null : toLineage(lineages.read(row));
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

/** The message after which the last run begins. */
export function lastRunBegins(runs: VisibleRuns): number {
  return runs.at(-2)?.through ?? 0;
}

/** Whether the history has the rows of a run through a position. */
export function holdsThrough(runs: VisibleRuns, run: string, position: number): boolean {
  return runs.some((one) => one.run === run && position <= one.through);
}

/** Finds out which snapshots of a fold have rows that count: all of a stream without lineages. */
export async function findCounted(
  database: Database,
  stream: InputStreamName,
  identity: FoldIdentity,
): Promise<(snapshot: { readonly run: string; readonly position: number }) => boolean> {
  return stream === 'MINER_CHAIN' ? selectCounted(await readLineage(database, stream, identity)) : () => true;
}

/** Whether the rows of a snapshot count in a lineage; none does without one. */
export function selectCounted(lineage: Lineage | null) {
  return ({ run, position }: { readonly run: string; readonly position: number }): boolean =>
    lineage !== null && holdsThrough(lineage.runs, run, position);
}

/** SQL condition for the rows that count. */
export function selectVisible(runs: VisibleRuns): RowCondition {
  if (runs.length === 0) return { sql: 'false', parameters: {} };
  const conditions = runs.map((one, at) => selectRun(one, at));
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

/** Sequence of the newest message that stored a row which counts; 0 without rows. */
export async function findTip(
  database: Database,
  tables: Tables,
  { stream, runs }: Pick<Lineage, 'stream' | 'runs'>,
): Promise<number> {
  const { sql, parameters } = selectVisible(runs);
  const tips = await Promise.all(
    listRowTables(tables, stream).map((table) =>
      database.select(`SELECT max(stored_by) FROM ${table} WHERE ${sql}`, parameters),
    ),
  );
  return Math.max(0, ...tips.map(([row]) => Number(row?.[0] ?? 0)));
}

/** Longest list of runs. A page of events asks few of them, a page of an owner all. */
export const runsMax = 16;

/**
 * Copies two neighbouring runs into a new one, the two that cover the fewest messages, so that a list of runs stays short.
 *
 * @param name of the new run. A copy that a kill cut off has another name, and no lineage has it.
 */
export async function mergeRuns(
  database: Database,
  tables: Tables,
  { stream, runs, name }: Pick<Lineage, 'stream' | 'runs'> & { readonly name: string },
): Promise<VisibleRuns> {
  const spanOf = (at: number) => (runs[at + 1]?.through ?? 0) - (runs[at - 1]?.through ?? 0);
  // The last one has the restored snapshot, which the next start needs if this process saves none.
  const candidates = runs.slice(0, -2).map((_, at) => at);
  const first = candidates.reduce((best, at) => (spanOf(at) < spanOf(best) ? at : best), 0);
  const merged = runs.slice(first, first + 2);
  const { sql, parameters } = selectVisible(merged);
  for (const { definition, resolveName } of rowTablesOf(stream)) {
    const [table, columns] = [resolveName(tables), definition.columns];
    const values = columns.map((column) => (column === 'run' ? '{name:String}' : column));
    await database.command(
      `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${values.join(', ')} FROM ${table} WHERE ${sql}`,
      { ...parameters, name },
    );
  }
  const through = merged[1]?.through ?? openEnd;
  return [...runs.slice(0, first), { run: name, through }, ...runs.slice(first + 2)];
}
