import type { InputStreamName } from '../../actors/messages/subjects.ts';
import type { Database } from '../clickhouse/database.ts';
import type { EpochHolder } from '../tables/ingestEpochs.ts';
import { rowTablesOf } from '../tables/rowTables.ts';
import {
  findLastRun,
  holdsThrough,
  type Lineage,
  type LineageRuns,
  listLineages,
  noteLineage,
  ofNoFold,
  openEnd,
  selectMessages,
} from './lineages.ts';

/** Longest list of runs. A page of events asks few of them, a page of an owner all. */
export const runsMax = 16;

/** A server's client gives a statement up after 30 seconds. The rows of this many messages take a few. */
const messagesPerStatement = 2_000_000;

interface MergeOptions extends EpochHolder {
  readonly stream: InputStreamName;
  readonly runs: LineageRuns;
  /** Name of the new run. A copy that a kill cut off has another name, and no lineage has it. */
  readonly name: string;
  readonly nowMs: number;
}

/**
 * Makes a list of runs shorter by one: copies two neighbouring runs into a new one, the two that cover the fewest messages. Notes that, since the
 * snapshots of both still name them.
 */
export async function mergeRuns(database: Database, options: MergeOptions): Promise<LineageRuns> {
  const { stream, runs, name, nowMs, ...writer } = options;
  const spanOf = (at: number) => (runs[at + 1]?.through ?? 0) - (runs[at - 1]?.through ?? 0);
  // The last one has the restored snapshot, which the next start needs if this process saves none.
  const candidates = runs.slice(0, -2).map((_, at) => at);
  const first = candidates.reduce((best, at) => (spanOf(at) < spanOf(best) ? at : best), 0);
  const merged = runs.slice(first, first + 2);
  const through = merged[1]?.through ?? openEnd;
  for (const { definition } of rowTablesOf(stream)) {
    const [table, columns] = [definition.name, definition.storedColumns.map((column) => column.name)];
    const values = columns.map((column) => (column === 'run' ? '{name:String}' : column));
    for (let after = runs[first - 1]?.through ?? 0; after < through; after += messagesPerStatement) {
      const { sql, parameters } = selectMessages(merged, { after, through: after + messagesPerStatement });
      await database.command(
        `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${values.join(', ')} FROM ${table} WHERE ${sql}`,
        { ...parameters, name },
      );
    }
  }
  const copy = { run: name, through };
  const about = { ...writer, ...ofNoFold, stream, step: 0, cause: 'merged' } as const;
  await noteLineage(database, { ...about, runs: [...merged, copy] }, nowMs);
  return [...runs.slice(0, first), copy, ...runs.slice(first + 2)];
}

/** Whether a lineage has the rows of a snapshot. */
export type IsCounted = (snapshot: { readonly run: string; readonly position: number }) => boolean;

/** Finds out which snapshots count in a lineage. */
export async function readCounted(
  database: Database,
  lineage: Pick<Lineage, 'stream' | 'runs'> | null,
): Promise<IsCounted> {
  return lineage === null ? () => false : selectCounted(lineage, await readCopied(database, lineage.stream));
}

/** The runs that each merged run is a copy of. */
export async function readCopied(
  database: Database,
  stream: InputStreamName,
): Promise<ReadonlyMap<string, LineageRuns>> {
  const merged = await listLineages(database, stream, 'merged');
  return new Map(merged.map(({ runs }) => [findLastRun(runs), runs.slice(0, -1)]));
}

/** Tells which snapshots count in a lineage: snapshots of its runs, and of the runs that these are copies of. */
export function selectCounted(
  { runs }: Pick<Lineage, 'runs'>,
  copied: ReadonlyMap<string, LineageRuns>,
): IsCounted {
  const counted = [...runs];
  // The loop comes to what it adds: copies of copies.
  for (const { run, through } of counted)
    for (const one of copied.get(run) ?? [])
      counted.push({ run: one.run, through: Math.min(one.through, through) });
  return ({ run, position }) => holdsThrough(counted, run, position);
}
