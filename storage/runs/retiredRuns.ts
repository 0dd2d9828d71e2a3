import type { Logger } from 'pino';
import { dayMs } from '../../actors/schemas/durations.ts';
import type { Database } from '../clickhouse/database.ts';
import { foldStates } from '../tables/foldStates.ts';
import type { EpochHolder } from '../tables/ingestEpochs.ts';
import { lineages } from '../tables/lineages.ts';
import { rowTables } from '../tables/rowTables.ts';
import { counting, noteLineage, ofNoFold } from './lineages.ts';

/** A replaced lineage can count again for this long: after a return to another version, or to the stream that was lost. */
export const retainedMs = 30 * dayMs;
/** What is not shown yet is not continued if nothing has been noted of it for this long. */
const fillingMs = 2 * dayMs;
/** Readers may rely on a retired run for this long. They look for another lineage after seconds. */
const readMs = 3_600_000;

/** Tables whose rows name a run. Snapshots go first: a process that restores one relies on the rows. */
const tables = [foldStates, ...rowTables.map(({ definition }) => definition)];

interface RetirementOptions {
  readonly database: Database;
  /** This process. */
  readonly writer: EpochHolder;
  readonly nowMs: () => number;
  readonly logger: Logger;
}

/**
 * Drops the rows and snapshots of runs that were retired at least an hour ago, then retires the runs that no lineage needs any more. A run that a lineage
 * names after all stays.
 */
export async function dropRetiredRuns(options: RetirementOptions): Promise<void> {
  const { database, nowMs, logger } = options;
  // A run is noted before it has rows, so one that begins meanwhile is needed too.
  const stored = await findStored(database);
  const needed = await findNeeded(database, nowMs());
  const retired = await listRetired(database);
  for (const [run, retiredAtMs] of retired)
    if (stored.has(run) && !needed.has(run) && nowMs() - retiredAtMs >= readMs) {
      await dropRun(database, run);
      logger.info({ run }, 'rows of a run that no longer counts were dropped');
    }
  const forgotten = [...stored].filter((run) => !needed.has(run) && !retired.has(run));
  if (forgotten.length > 0) await retireRuns(options, forgotten);
}

/** Notes that runs never count again. */
async function retireRuns({ database, writer, nowMs }: RetirementOptions, runs: readonly string[]) {
  const about = { ...writer, ...ofNoFold, stream: 'MINER_COUNTER', step: 0, cause: 'retired' } as const;
  await noteLineage(database, { ...about, runs: runs.map((run) => ({ run, through: 0 })) }, nowMs());
}

/** Runs of lineages that count, or may count again. */
async function findNeeded(database: Database, nowMs: number): Promise<ReadonlySet<string>> {
  const rows = (
    await database.select(
      `SELECT ${lineages.list} FROM ${lineages.name} WHERE ${counting} OR cause IN ('pending', 'filling', 'filled')
       ORDER BY epoch DESC, holder DESC, step DESC`,
    )
  ).map(lineages.read);
  const needed = new Set<string>();
  /** Streams for whose rows an ingesting process has noted a later lineage. */
  const later = new Set<string>();
  /** When the next later lineage of each stream was noted. The lineage before it counted until then. */
  const replacedAtMs = new Map<string, number>();
  for (const { stream, cause, runs, notedAtMs } of rows) {
    let neededUntilMs = Number.POSITIVE_INFINITY;
    if (cause === 'filled') neededUntilMs = notedAtMs + retainedMs;
    // The newest pending run is written, however long that takes.
    else if (cause === 'filling' || (cause === 'pending' && later.has(stream)))
      neededUntilMs = notedAtMs + fillingMs;
    else if (cause !== 'pending') {
      neededUntilMs = Math.max(notedAtMs, replacedAtMs.get(stream) ?? nowMs) + retainedMs;
      replacedAtMs.set(stream, notedAtMs);
    }
    if (cause !== 'filled' && cause !== 'filling') later.add(stream);
    if (nowMs < neededUntilMs) for (const run of runs) needed.add(run);
  }
  return needed;
}

const retirements = lineages.select('runs', 'notedAtMs');

/** When each retired run was retired last. */
async function listRetired(database: Database): Promise<ReadonlyMap<string, number>> {
  const rows = await database.select(
    `SELECT ${retirements.list} FROM ${lineages.name} WHERE cause = 'retired' ORDER BY noted_at_ms`,
  );
  return new Map(
    rows.map(retirements.read).flatMap(({ runs, notedAtMs }) => runs.map((run) => [run, notedAtMs] as const)),
  );
}

async function findStored(database: Database): Promise<ReadonlySet<string>> {
  const stored = new Set<string>();
  for (const { name } of tables)
    for (const [run] of await database.select(`SELECT DISTINCT run FROM ${name}`)) stored.add(String(run));
  return stored;
}

/** Drops all rows and snapshots of a run, which nobody may read any more. A partition holds rows of one run. */
export async function dropRun(database: Database, run: string): Promise<void> {
  for (const { name } of tables)
    for (const [id] of await database.select(
      `SELECT DISTINCT _partition_id FROM ${name} WHERE run = {run:String}`,
      { run },
    ))
      await database.command(`ALTER TABLE ${name} DROP PARTITION ID {id:String}`, { id: String(id) });
}
