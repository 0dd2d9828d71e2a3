import type { JetStreamManager } from '@nats-io/jetstream';
import type { Logger } from 'pino';
import { type FoldIdentity, isOfFold } from '../../actors/foldIdentity.ts';
import { inputStreamNames } from '../../actors/messages/subjects.ts';
import { hasReadings } from '../../storage/countStored.ts';
import type { Database } from '../../storage/database.ts';
import { deleteRowsAbove } from '../../storage/deleteRowsAbove.ts';
import {
  findGenerations,
  isSameIdentity,
  noteGeneration,
  readGenerationIdentity,
} from '../../storage/generationIdentity.ts';
import {
  attachSnapshots,
  createEmpty,
  dropTables,
  findActiveTables,
  listGenerations,
} from '../../storage/generations.ts';
import { noteLineage, readLineage } from '../../storage/lineages.ts';
import { createReplayLog } from '../../storage/replayLog.ts';
import { createSnapshotStore } from '../../storage/snapshots.ts';
import type { GenerationIdentity } from '../../storage/tables/generations.ts';
import type { EpochHolder } from '../../storage/tables/ingestEpochs.ts';
import { resolveTables, type Tables } from '../../storage/tables.ts';
import { readStreamState } from '../jetstream/sourceVerification.ts';
import { describeLost, findLost } from './lostMessages.ts';
import type { StreamGuard } from './lostStreams.ts';

const stream = 'MINER_COUNTER';

export interface GenerationChoiceOptions {
  readonly database: Database;
  readonly jsm: JetStreamManager;
  /** This process; epoch 0 before it has one. */
  readonly writer: EpochHolder;
  /** Identity of the fold that will follow the counter stream. */
  readonly identity: FoldIdentity;
  /** Identity of the fold of `MINER_PIPELINE`, whose state is only in snapshots. */
  readonly settlementIdentity: FoldIdentity;
  readonly streamGuard: StreamGuard;
  /** Acquires the lock on filling tables other than the active ones, and returns its release; rejects while another process holds it. */
  readonly claim: () => Promise<() => void>;
  readonly nowMs: () => number;
  /** Whether the operator accepts a rebuild without the lost messages. */
  readonly acceptsLoss: boolean;
  readonly logger: Logger;
}

/** Some messages can no longer be folded again; the error says which, and how to continue. */
export class RebuildIncomplete extends Error {
  override readonly name = 'RebuildIncomplete';
}

/** The tables that an ingesting process writes to. */
interface GenerationChoice {
  readonly tables: Tables;
  /** The active generation, if the process writes to another one and holds the lock on filling tables; null otherwise. */
  readonly rebuildsFrom: number | null;
}

/**
 * Refuses what {@link chooseGeneration} would refuse if no stream is lost, before the database is migrated.
 *
 * @throws RebuildIncomplete
 */
export async function requireRebuildable(options: GenerationChoiceOptions): Promise<void> {
  if (options.acceptsLoss) return;
  const active = await findActiveTables(options.database);
  if ((await judgeRows(options, active, await describeWanted(options))) === 'others')
    await reportLost(options, active);
}

/**
 * Finds the generation to write to, after it has removed the rows of streams whose loss is accepted. If the state of the active rows
 * is lost, or is of another fold version or deployment, everything is folded again into the next generation. Readers see the active
 * one complete until then. A kill at any point is harmless: the next start runs this again.
 *
 * @throws RebuildIncomplete when messages are in neither the stream nor the rows, unless the loss is accepted.
 */
export async function chooseGeneration(options: GenerationChoiceOptions): Promise<GenerationChoice> {
  const { database, identity, nowMs, logger } = options;
  const active = await findActiveTables(database);
  const wanted = await describeWanted(options);
  await removeLost(options, active);
  const rows = await judgeRows(options, active, wanted);
  if (rows === 'none')
    await noteGeneration(database, { ...wanted, generation: active.generation, atMs: nowMs() });
  if (rows !== 'others') return { tables: active, rebuildsFrom: null };
  await reportLost(options, active);
  const release = await options.claim();
  const prepared = await prepare(options, active, wanted).catch((error: unknown) => {
    release();
    throw error;
  });
  if (prepared === null) {
    release();
    return chooseGeneration(options);
  }
  logger.warn(
    { active: active.generation, rebuilding: prepared.generation, foldVersion: identity.foldVersion },
    'the stored rows have no state of this version and deployment: the stream is folded again into the next generation',
  );
  return { tables: prepared, rebuildsFrom: active.generation };
}

async function describeWanted({ jsm, identity }: GenerationChoiceOptions): Promise<GenerationIdentity> {
  const { created } = await readStreamState(jsm, stream);
  return { ...identity, streamCreated: created };
}

/** Removes everything made from streams whose loss is accepted. Snapshots go last, so that it is repeated after a kill. */
async function removeLost(
  { database, jsm, writer, streamGuard, nowMs, logger }: GenerationChoiceOptions,
  active: Tables,
): Promise<void> {
  const snapshots = createSnapshotStore({ database, tables: () => active });
  for (const lost of await streamGuard.check()) {
    const { stream: name } = lost;
    const lineage = await readLineage(database, name);
    const { created: streamCreated } = await readStreamState(jsm, name);
    if (lineage !== null) {
      // The stream that NATS has may have been in use before the lost one.
      const runs = (await readLineage(database, name, { ...lineage, streamCreated }))?.runs ?? [];
      await noteLineage(
        database,
        { ...lineage, ...writer, step: 0, cause: 'begun', runs, streamCreated },
        nowMs(),
      );
    } else {
      await deleteRowsAbove(database, { tables: active, stream: name, position: 0 });
      await snapshots.deleteAbove(name, 0);
    }
    logger.warn(lost, 'what was made from a lost stream counts no longer, as MINER_LOST_STREAMS demands');
  }
}

/** Finds out whether this fold made the active rows. */
async function judgeRows(
  options: GenerationChoiceOptions,
  active: Tables,
  wanted: GenerationIdentity,
): Promise<'ours' | 'none' | 'others'> {
  const { database, identity } = options;
  const snapshots = createSnapshotStore({ database, tables: () => active });
  await reportLostState(options, await snapshots.list('MINER_PIPELINE'));
  const headers = await snapshots.list(stream);
  if (headers.some((header) => isOfFold(header, identity))) return 'ours';
  const noted = await readGenerationIdentity(database, active);
  // Folding again produces exactly the existing rows.
  if (noted !== null && isSameIdentity(noted, wanted)) return 'ours';
  return (await hasReadings(database, active)) ? 'others' : 'none';
}

async function reportLost(options: GenerationChoiceOptions, active: Tables): Promise<void> {
  const lost = await findLost(options, active);
  if (lost === null) return;
  report(options, {
    cause: 'the stored rows are of another version or deployment and have to be folded again',
    detail: describeLost(lost),
    remedy: 'Run the version and deployment that made them',
    lost: { stream, ...lost },
  });
}

/** `MINER_PIPELINE` has no rows: without a snapshot of this version, all its messages have to be folded again. */
async function reportLostState(
  options: GenerationChoiceOptions,
  folds: readonly FoldIdentity[],
): Promise<void> {
  if (folds.length === 0 || folds.some((fold) => isOfFold(fold, options.settlementIdentity))) return;
  const { firstSequence } = await readStreamState(options.jsm, 'MINER_PIPELINE');
  if (firstSequence <= 1) return;
  const throughSequence = firstSequence - 1;
  report(options, {
    cause: 'the saved state of MINER_PIPELINE is of another version and has to be folded again',
    detail:
      `Messages 1 to ${throughSequence} have left MINER_PIPELINE: modules, signer and oracles that have reported nothing since, ` +
      'and submissions and rounds that ended before, are unknown afterwards.',
    remedy: 'Run the version that made it',
    lost: { stream: 'MINER_PIPELINE', throughSequence },
  });
}

/** Messages that a rebuild misses: the texts for the error, and the values for the log. */
interface Loss {
  readonly cause: string;
  readonly detail: string;
  readonly remedy: string;
  readonly lost: object;
}

/** Logs an accepted loss. @throws RebuildIncomplete when the loss is not accepted. */
function report(
  { acceptsLoss, logger }: GenerationChoiceOptions,
  { cause, detail, remedy, lost }: Loss,
): void {
  if (!acceptsLoss) {
    throw new RebuildIncomplete(
      `${cause}. ${detail} ${remedy}, or set MINER_INCOMPLETE_REBUILD=accept to continue without what is lost`,
    );
  }
  logger.warn(lost, `the rebuild is incomplete: ${detail}`);
}

/** Null if a replay has activated other tables since the lookup; these must not be dropped. */
async function prepare(
  options: GenerationChoiceOptions,
  active: Tables,
  wanted: GenerationIdentity,
): Promise<Tables | null> {
  const { generation } = await findActiveTables(options.database);
  if (generation !== active.generation) return null;
  return (await findUnfinished(options, active, wanted)) ?? (await beginNext(options, active, wanted));
}

/** Finds the generation that an earlier start chose for the same fold and stream. */
async function findUnfinished(
  { database }: GenerationChoiceOptions,
  active: Tables,
  wanted: GenerationIdentity,
): Promise<Tables | null> {
  const existing = new Set(await listGenerations(database));
  const generation = (await findGenerations(database, wanted)).find(
    (candidate) => candidate > active.generation && existing.has(candidate),
  );
  return generation === undefined ? null : resolveTables(generation);
}

/**
 * Creates the next generation, empty. Readings whose messages have left the stream are folded from the active one. Ends an unfinished
 * replay, which would restore the replaced tables.
 */
async function beginNext(
  { database, nowMs }: GenerationChoiceOptions,
  active: Tables,
  wanted: GenerationIdentity,
): Promise<Tables> {
  const log = createReplayLog(database, nowMs);
  const replay = await log.unfinished(active.generation);
  if (replay !== null) await log.note(replay.plan, 'ended');
  for (const generation of await listGenerations(database))
    if (generation !== active.generation) await dropTables(database, resolveTables(generation));
  const tables = resolveTables(await log.nextGeneration(active.generation));
  await createEmpty(database, tables);
  for (const other of inputStreamNames)
    if (other !== stream)
      await attachSnapshots(database, { from: active, to: tables, stream: other, position: null });
  await noteGeneration(database, { ...wanted, generation: tables.generation, atMs: nowMs() });
  return tables;
}
