import type { Logger } from 'pino';
import { type FoldIdentity, isOfFold } from '../../actors/folds/foldIdentity.ts';
import { OperatorError } from '../../actors/operatorError.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { type Lineage, noteLineage, readLineage } from '../../storage/runs/lineages.ts';
import { readCounted } from '../../storage/runs/mergedRuns.ts';
import { createSnapshotStore } from '../../storage/snapshots/snapshots.ts';
import type { EpochHolder } from '../../storage/tables/ingestEpochs.ts';
import { readInfo } from '../jetstream/proofs/streamVerifier.ts';
import type { StreamPort } from '../nats/streamPort.ts';
import { describeLost, findLost } from './lostMessages.ts';
import type { LostStream } from './lostStreams.ts';

export interface AcceptedLossOptions {
  readonly database: Database;
  readonly jetStream: StreamPort;
  /** Identity of the fold that will follow the counter stream. */
  readonly identity: FoldIdentity;
  /** Identity of the fold of `MINER_PIPELINE`, whose state is only in snapshots. */
  readonly settlementIdentity: FoldIdentity;
  readonly nowMs: () => number;
  /** Whether the operator accepts a fold without the lost messages. */
  readonly acceptsLoss: boolean;
  readonly logger: Logger;
}

/**
 * Makes sure that streams without a history of this version and deployment can be folded again from their beginning.
 *
 * @throws OperatorError when messages are in neither the stream nor the rows, unless the loss is accepted.
 */
export async function requireComplete(options: AcceptedLossOptions): Promise<void> {
  await requireState(options);
  await requireReadings(options);
}

async function requireReadings(options: AcceptedLossOptions): Promise<void> {
  const { database, identity } = options;
  const stream = 'MINER_COUNTER';
  const newest = await readLineage(database, stream);
  if (newest === null || newest.runs.length === 0 || isOfFold(newest, identity)) return;
  if ((await readLineage(database, stream, identity)) !== null) return;
  const lost = await findLost(options, newest.runs);
  if (lost === null) return;
  report(options, {
    cause: 'the stored rows are of another version or deployment and have to be folded again',
    detail: describeLost(lost),
    remedy: 'Run the version and deployment that made them',
    lost: { stream, ...lost },
  });
}

/** `MINER_PIPELINE` has no rows: without a state of this version, all its messages have to be folded again. */
async function requireState(options: AcceptedLossOptions): Promise<void> {
  const { database, settlementIdentity } = options;
  const stream = 'MINER_PIPELINE';
  if ((await readLineage(database, stream)) === null) return;
  const history = await readLineage(database, stream, settlementIdentity);
  if (history !== null && (history.position === 0 || (await hasState(database, history)))) return;
  const { firstSequence } = await readInfo(options.jetStream, stream);
  if (firstSequence <= 1) return;
  const throughSequence = firstSequence - 1;
  report(options, {
    cause: 'no saved state of MINER_PIPELINE is of this version, so the stream has to be folded again',
    detail:
      `Messages 1 to ${throughSequence} have left MINER_PIPELINE: modules, signer and oracles that have reported nothing since, ` +
      'and submissions and rounds that ended before, are unknown afterwards.',
    remedy: 'Run the version that made it',
    lost: { stream, throughSequence },
  });
}

/** Whether a state of a history is saved. One whose newest note has position 0 may have folded nothing yet. */
async function hasState(database: Database, history: Lineage): Promise<boolean> {
  const isCounted = await readCounted(database, history);
  return (await createSnapshotStore(database).list(history.stream)).some(isCounted);
}

/** Messages that a fold misses: the texts for the error, and the values for the log. */
interface Loss {
  readonly cause: string;
  readonly detail: string;
  readonly remedy: string;
  readonly lost: object;
}

/** Logs an accepted loss. @throws OperatorError when the loss is not accepted. */
function report({ acceptsLoss, logger }: AcceptedLossOptions, { cause, detail, remedy, lost }: Loss): void {
  if (!acceptsLoss) {
    throw new OperatorError(
      `${cause}. ${detail} ${remedy}, or set MINER_INCOMPLETE_REBUILD=accept to continue without what is lost`,
      { kind: 'unusable', exitStatus: 2 },
    );
  }
  logger.warn(lost, `the rebuild is incomplete: ${detail}`);
}

/**
 * Hides the rows made from streams whose loss the operator accepted. The rows stay, and count again if that stream
 * comes back.
 */
export async function leaveLostStreams(
  {
    database,
    jetStream,
    nowMs,
    logger,
  }: Pick<AcceptedLossOptions, 'database' | 'jetStream' | 'nowMs' | 'logger'>,
  writer: EpochHolder,
  streams: readonly LostStream[],
): Promise<void> {
  for (const lost of streams) {
    const { stream } = lost;
    const lineage = await readLineage(database, stream);
    if (lineage === null) continue;
    const { created: streamCreated } = await readInfo(jetStream, stream);
    // The stream that NATS has may have been in use before the lost one.
    const runs = (await readLineage(database, stream, { ...lineage, streamCreated }))?.runs ?? [];
    await noteLineage(
      database,
      {
        ...lineage,
        ...writer,
        step: 0,
        cause: 'counts',
        reason: 'begun',
        runs,
        streamCreated,
        position: 0,
        continuedRun: '',
      },
      nowMs(),
    );
    logger.warn(lost, 'data made from a lost stream is hidden, as MINER_LOST_STREAMS says');
  }
}
