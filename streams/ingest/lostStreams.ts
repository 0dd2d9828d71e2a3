import type { Logger } from 'pino';
import type { Clock } from '../../actors/clock.ts';
import { type InputStreamName, inputStreamNames } from '../../actors/messages/subjects.ts';
import { OperatorError } from '../../actors/operatorError.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { hasTables } from '../../storage/migration/migrate.ts';
import { readLineage } from '../../storage/runs/lineages.ts';
import { readInfo } from '../jetstream/proofs/streamVerifier.ts';
import { createSuspicions, NotProven, orNotProven, type Suspicions } from '../jetstream/proofs/suspicions.ts';
import { isRefusedAs, type StreamPort } from '../nats/streamPort.ts';

/** A source of stored rows or snapshots that NATS no longer has. Times are in the format of NATS. */
export interface LostStream {
  readonly stream: InputStreamName;
  /** Creation time of the folded stream. */
  readonly folded: string;
  /** Creation time of the stream that has its name now; null if no stream has. */
  readonly found: string | null;
}

/** The error for rows or snapshots that were made from streams which NATS does not have. */
export function refuseLostStreams(lost: readonly LostStream[]): OperatorError {
  const { detail, remedy } = describeLostStreams(lost);
  return new OperatorError(`${detail} Nothing is created or removed. ${remedy}`);
}

/** Describes the loss and both ways to continue. */
export function describeLostStreams(lost: readonly LostStream[]): { detail: string; remedy: string } {
  const details = lost.map(
    ({ stream, folded, found }) =>
      `ClickHouse holds what was made from ${formatLostStream({ stream, folded })}, and NATS has ${found === null ? 'no such stream' : `one created ${found}`}.`,
  );
  const accepting = `MINER_LOST_STREAMS=${lost.map(formatLostStream).join(',')}`;
  return {
    detail: details.join(' '),
    remedy: `Correct MINER_NATS_URL or restore NATS. Only if these streams are gone for good: set ${accepting}, which leaves out what was made from them`,
  };
}

/** A lost stream as `MINER_LOST_STREAMS` names it. Name and creation time together identify a stream. */
function formatLostStream({ stream, folded }: Pick<LostStream, 'stream' | 'folded'>): string {
  return `${stream}@${folded}`;
}

interface StreamSources {
  readonly database: Database;
  readonly jetStream: Pick<StreamPort, 'info' | 'server'>;
  readonly suspicions: Suspicions;
  readonly clock: Pick<Clock, 'bootMs'>;
}

/**
 * Finds streams that rows or snapshots were made from and that NATS does not have. There must be tables (`hasTables`).
 *
 * @throws NotProven while NATS may have a stream after all.
 */
export async function findLostStreams(sources: StreamSources): Promise<LostStream[]> {
  const { database, suspicions } = sources;
  const findings = [];
  for (const stream of inputStreamNames.toSorted()) {
    const newest = await readLineage(database, stream);
    if (newest !== null)
      findings.push({ stream, folded: newest.streamCreated, ...(await readCurrent(sources, stream)) });
  }
  const lost: LostStream[] = [];
  let notProven: NotProven | null = null;
  for (const { stream, folded, found, replicas, askedAtMs } of findings) {
    const claim = `${formatLostStream({ stream, folded })} is lost`;
    const isProven = await orNotProven(() =>
      suspicions.isProven({ claim, isConfirmed: folded !== found, askedAtMs, replicas }),
    );
    if (isProven instanceof NotProven) notProven ??= isProven;
    else if (isProven) lost.push({ stream, folded, found });
  }
  if (notProven !== null) throw notProven;
  return lost;
}

/** Reads when the stream that NATS has now was created, null without one, and how many servers may answer for it. */
async function readCurrent({ jetStream, clock }: StreamSources, stream: InputStreamName) {
  const askedAtMs = clock.bootMs();
  try {
    const { created: found, replicas } = await readInfo(jetStream, stream);
    return { found, replicas, askedAtMs };
  } catch (error) {
    if (!isRefusedAs('missing', error)) throw error;
    // Any server of a cluster may answer for the whole cluster, before it has learned of all streams.
    const replicas = jetStream.server().isClustered ? Number.POSITIVE_INFINITY : 1;
    return { found: null, replicas, askedAtMs };
  }
}

interface StreamGuardOptions {
  readonly database: Database;
  readonly jetStream: () => Pick<StreamPort, 'info' | 'server'>;
  readonly clock: Pick<Clock, 'bootMs'>;
  /** Streams whose loss an operator accepts, as `MINER_LOST_STREAMS` names them. */
  readonly acceptedLosses: Pick<readonly string[], 'includes'>;
  readonly logger: Logger;
}

export type StreamGuard = ReturnType<typeof createStreamGuard>;

/** Checks for lost streams. Call `check` before anything that creates streams or restores state. */
export function createStreamGuard({
  database,
  jetStream,
  clock,
  acceptedLosses,
  logger,
}: StreamGuardOptions) {
  const suspicions = createSuspicions(clock);
  let lost: readonly LostStream[] = [];
  /** A database without tables gets some, and keeps them. */
  let isCreated = false;
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<readonly LostStream[]> | null = null;

  /**
   * Resolves with the streams whose loss is accepted and whose rows or snapshots still count. Callers that come while a check runs share
   * the next one.
   *
   * @throws OperatorError if one is lost, or NotProven while a stream may be lost.
   */
  function check(): Promise<readonly LostStream[]> {
    next ??= running.then(begin, begin);
    return next;
  }

  function begin(): Promise<readonly LostStream[]> {
    next = null;
    const checked = checkOnce();
    running = checked;
    return checked;
  }

  async function checkOnce(): Promise<readonly LostStream[]> {
    isCreated ||= await hasTables(database);
    const found = isCreated
      ? await findLostStreams({ database, jetStream: jetStream(), suspicions, clock })
      : [];
    const refused = found.filter((one) => !acceptedLosses.includes(formatLostStream(one)));
    const isNew = JSON.stringify(refused) !== JSON.stringify(lost);
    lost = refused;
    if (refused.length === 0) return found;
    const error = refuseLostStreams(refused);
    if (isNew) logger.error({ lost: refused }, error.message);
    throw error;
  }

  return {
    check,
    /** The streams whose loss the last check refused. */
    get lost() {
      return lost;
    },
  };
}
