import { isOfFold } from '../../../actors/folds/foldIdentity.ts';
import { OperatorError } from '../../../actors/operatorError.ts';
import { readErrorMessage } from '../../../actors/readErrorMessage.ts';
import type { Database } from '../../../storage/clickhouse/database.ts';
import { pollUntil } from '../../../storage/reading/awaitRows.ts';
import { type Lineage, readLineage } from '../../../storage/runs/lineages.ts';
import { readCounted } from '../../../storage/runs/mergedRuns.ts';
import { dropReplay, isContinued, isKeptBy, offerReplay } from '../../../storage/runs/replays.ts';
import { systemClock } from '../../process/systemClock.ts';

/** A service that ingests looks for a replay every second, and shows its result once it has stored what came after it. */
const takeOverMs = 30_000;
const askEveryMs = 500;

const notUsed =
  'the result is not used: another replay or version has replaced the history it continues, or the stream has lost messages. Run the same command again';

interface HandOverOptions {
  readonly database: Database;
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
  /** Longest time to wait for the service; omitted for the usual one. */
  readonly limitMs?: number;
}

/**
 * Offers the result of a replay to the process that ingests, and waits a while for that. Returns in a sentence what has happened or will.
 *
 * @throws OperatorError if the result does not fit what counts now.
 */
export async function handOver(
  { database, signal, print, limitMs = takeOverMs }: HandOverOptions,
  filled: Lineage,
  position: number,
): Promise<string> {
  const current = await readFitting(database, filled);
  if (current === null) {
    await dropReplay(database, filled);
    throw new OperatorError(notUsed);
  }
  // Later than the result of any replay before.
  const { epoch, holder } = current;
  const offered = await offerReplay(
    database,
    { ...filled, epoch, holder },
    { position, nowMs: systemClock.nowMs() },
  );
  let isAway = false;
  /** Returns `otherwise` while ClickHouse is away, and says so once. */
  async function ask<Answer>(question: Promise<Answer>, otherwise: Answer): Promise<Answer> {
    try {
      return await question;
    } catch (error) {
      if (!isAway)
        print(`the result stays offered, but ClickHouse does not answer: ${readErrorMessage(error)}`);
      isAway = true;
      return otherwise;
    }
  }
  // Nobody else has the embedded engine open.
  if (database.kind === 'server') {
    print(`the result is offered: waiting up to ${limitMs / 1_000} s for a running service`);
    const isTaken = () => ask(isContinued(database, offered), false);
    if (await pollUntil(isTaken, { everyMs: askEveryMs, limitMs, signal }))
      return `the result counts now: the service has taken it over, and continues after ${position}`;
  }
  if ((await ask(readFitting(database, offered), offered)) === null) throw new OperatorError(notUsed);
  return `the result is complete: a running service takes it over once it has stored the messages after ${position}, otherwise the next one when it starts`;
}

/** The lineage that counts now; null unless the result of a replay continues it. */
async function readFitting(
  database: Database,
  { stream, streamCreated, runs, continuedRun, ...fold }: Lineage,
): Promise<Lineage | null> {
  const current = await readLineage(database, stream);
  if (current === null || !isOfFold(current, fold) || current.streamCreated !== streamCreated) return null;
  return isKeptBy({ runs, continuedRun }, await readCounted(database, current)) ? current : null;
}
