import { setTimeout as sleep } from 'node:timers/promises';
import type { JetStreamManager } from '@nats-io/jetstream';
import { isOfFold } from '../../../actors/foldIdentity.ts';
import { leaseSubject } from '../../../actors/messages/subjects.ts';
import type { Database } from '../../../storage/database.ts';
import { isContinued, isKeptBy, noteFillEnd } from '../../../storage/fills.ts';
import { readDatabaseIdentity } from '../../../storage/ingestEpochs.ts';
import { type Lineage, readLineage } from '../../../storage/lineages.ts';
import { readCounted } from '../../../storage/mergedRuns.ts';
import { systemClock } from '../../process/systemClock.ts';
import { ReplayRefused } from './replayPlan.ts';

/** A service that ingests looks for a replay every second, and shows it once it has stored what came after it. */
const takeOverMs = 60_000;
/** A process that ingests renews its lease every second. */
const renewedWithinMs = 5_000;
const askEveryMs = 500;

const notUsed =
  'the result is not used: what it continues counts no longer, since the stream has lost messages or another replay or version has replaced it. Run the same command again';

interface HandOverOptions {
  readonly database: Database;
  readonly jsm: JetStreamManager;
  readonly signal: AbortSignal;
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
    await noteFillEnd(database, filled, { position, counts: false, nowMs: nowMs() });
    throw new ReplayRefused(notUsed);
  }
  // Later than the result of any replay before.
  const { epoch, holder } = current;
  const offered = { ...filled, epoch, holder };
  const noted = await noteFillEnd(database, offered, { position, counts: true, nowMs: nowMs() });
  const isTaken = await waitUntilTaken(options, noted);
  if (isTaken) return `the result counts now: the service has taken it over, and continues after ${position}`;
  if ((await readFitting(database, noted)) === null) throw new ReplayRefused(notUsed);
  return `the result is complete: a running service takes it over once it has stored the messages after ${position}, otherwise the next one when it starts`;
}

/** The history that counts now; null unless the result of a replay continues it. */
async function readFitting(
  database: Database,
  { stream, streamCreated, runs, parent, ...fold }: Lineage,
): Promise<Lineage | null> {
  const current = await readLineage(database, stream);
  if (current === null || !isOfFold(current, fold) || current.streamCreated !== streamCreated) return null;
  return isKeptBy({ runs, parent }, await readCounted(database, current)) ? current : null;
}

/** Waits until a process that ingests shows the result. False if none does in time, or none runs. */
async function waitUntilTaken({ database, jsm, signal }: HandOverOptions, noted: Lineage): Promise<boolean> {
  // Nobody else has the embedded engine open.
  if (database.kind === 'embedded') return false;
  const subject = leaseSubject(await readDatabaseIdentity(database));
  const readLease = async () =>
    (await jsm.streams.getMessage('MINER_LEASE', { last_by_subj: subject }))?.seq ?? 0;
  const lease = await readLease();
  let isRenewed = false;
  for (let waitedMs = 0; waitedMs < takeOverMs && !signal.aborted; waitedMs += askEveryMs) {
    if (await isContinued(database, noted)) return true;
    isRenewed ||= (await readLease()) !== lease;
    if (!isRenewed && waitedMs >= renewedWithinMs) return false;
    await sleep(askEveryMs);
  }
  return isContinued(database, noted);
}
