import { setTimeout as sleep } from 'node:timers/promises';
import { isOfFold } from '../../../actors/folds/foldIdentity.ts';
import { leaseSubject } from '../../../actors/messages/subjects.ts';
import { readErrorMessage } from '../../../actors/readErrorMessage.ts';
import type { Database } from '../../../storage/clickhouse/database.ts';
import { readDatabaseIdentity } from '../../../storage/runs/epochFence.ts';
import { closeFill, isContinued, isKeptBy, offerReplay } from '../../../storage/runs/fills.ts';
import { type Lineage, readLineage } from '../../../storage/runs/lineages.ts';
import { readCounted } from '../../../storage/runs/mergedRuns.ts';
import type { StreamPort } from '../../../streams/nats/streamPort.ts';
import { systemClock } from '../../process/systemClock.ts';
import { ReplayRefused } from './replayPlan.ts';

/**
 * A service that ingests looks for a replay every second, and shows it once it has stored what came after it. The wait is as long if ClickHouse or NATS
 * is away.
 */
const takeOverMs = 60_000;
/** A process that ingests renews its lease every second. */
const renewedWithinMs = 5_000;
const askEveryMs = 500;

const notUsed =
  'the result is not used: what it continues counts no longer, since the stream has lost messages or another replay or version has replaced it. Run the same command again';

interface HandOverOptions {
  readonly database: Database;
  readonly jetStream: Pick<StreamPort, 'last'>;
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
  /** Omitted for the usual time. */
  readonly limitMs?: number;
}

/**
 * Offers the result of a replay to the process that ingests, and waits a while for that if there is one. Returns in a sentence what has happened or will.
 *
 * @throws ReplayRefused if the result does not fit what counts now.
 */
export async function handOver(options: HandOverOptions, filled: Lineage, position: number): Promise<string> {
  const { database } = options;
  const { nowMs } = systemClock;
  const current = await readFitting(database, filled);
  if (current === null) {
    await closeFill(database, filled, { position, nowMs: nowMs() });
    throw new ReplayRefused(notUsed);
  }
  // Later than the result of any replay before.
  const { epoch, holder } = current;
  const noted = await offerReplay(database, { ...filled, epoch, holder }, { position, nowMs: nowMs() });
  switch (await watchOffer(options, noted)) {
    case 'taken':
      return `the result counts now: the service has taken it over, and continues after ${position}`;
    case 'refused':
      throw new ReplayRefused(notUsed);
    case 'waiting':
      return `the result is complete: a running service takes it over once it has stored the messages after ${position}, otherwise the next one when it starts`;
    case 'unknown':
      return 'the result is complete, and offered to the service. Whether it has taken it over is unknown, since ClickHouse or NATS does not answer; if not, it does so once both answer';
  }
}

/** The history that counts now; null unless the result of a replay continues it. */
async function readFitting(
  database: Database,
  { stream, streamCreated, runs, continuedRun, ...fold }: Lineage,
): Promise<Lineage | null> {
  const current = await readLineage(database, stream);
  if (current === null || !isOfFold(current, fold) || current.streamCreated !== streamCreated) return null;
  return isKeptBy({ runs, continuedRun }, await readCounted(database, current)) ? current : null;
}

/** Fate of an offer: it counts, it waits for a process that ingests, it does not fit any more, or nobody has said so in time. */
type Offered = 'taken' | 'waiting' | 'refused' | 'unknown';

/** Waits until a process that ingests shows the result, if one runs. */
async function watchOffer(options: HandOverOptions, noted: Lineage): Promise<Offered> {
  const { database, jetStream, signal, print, limitMs = takeOverMs } = options;
  const { monotonicMs } = systemClock;
  const findFit = async () => ((await readFitting(database, noted)) === null ? 'refused' : 'waiting');
  // Nobody else has the embedded engine open.
  if (database.kind === 'embedded') return findFit();
  const startedMs = monotonicMs();
  let first: { readonly lease: number; readonly atMs: number } | null = null;
  let isRenewed = false;
  let isTold = false;
  for (;;) {
    const isOver = signal.aborted || monotonicMs() - startedMs >= limitMs;
    try {
      if (await isContinued(database, noted)) return 'taken';
      const subject = leaseSubject(await readDatabaseIdentity(database));
      const lease = (await jetStream.last('MINER_LEASE', subject))?.seq ?? 0;
      first ??= { lease, atMs: monotonicMs() };
      isRenewed ||= lease !== first.lease;
      const runsNone = !isRenewed && monotonicMs() - first.atMs >= renewedWithinMs;
      if (isOver || runsNone) return await findFit();
    } catch (error) {
      if (isOver) return 'unknown';
      if (!isTold)
        print(`ClickHouse or NATS does not answer, which is waited for: ${readErrorMessage(error)}`);
      isTold = true;
      // Without NATS no lease is renewed.
      first = null;
    }
    await sleep(askEveryMs);
  }
}
