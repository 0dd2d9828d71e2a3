import { aheadMsMax } from '../../actors/messages/futureTimes.ts';
import type { CounterReading } from '../../actors/wheel/counterReading.ts';
import { readStored } from '../../storage/reading/observations.ts';
import { readLineage } from '../../storage/runs/lineages.ts';
import type { StreamAnswer } from '../jetstream/proofs/streamVerifier.ts';
import { NotProven } from '../jetstream/proofs/suspicions.ts';
import type { ReadStored } from '../jetstream/source/missingMessages.ts';
import type { StoredReaderOptions } from './streamDefinition.ts';

const stream = 'MINER_COUNTER';

/**
 * Reads the stored readings of messages that have left the stream, after one sequence through another, of whichever fold made them. Reads none if the
 * stream was recreated since: the same sequences then belong to other messages. Leaves out those that name a time after the messages had left, which
 * earlier versions accepted.
 */
export function createStoredReadings({
  database,
  verifier,
  oldestReadingMs,
  logger,
}: StoredReaderOptions): ReadStored {
  return async function* (after: number, through: number): AsyncIterable<readonly CounterReading[]> {
    const answer = await verifier.ask();
    const lineage = await readLineage(database, stream, { streamCreated: answer.info.created });
    if (lineage === null) {
      logger.warn({ stream, after, through }, 'no stored readings belong to this stream');
      return;
    }
    const latestMs = findLatestMs(answer, through);
    const isPossible = ({ observedAtMs, receivedAtMs }: CounterReading) =>
      Math.max(observedAtMs, receivedAtMs) <= latestMs;
    const range = { runs: lineage.runs, after, through, oldestMs: oldestReadingMs() };
    let impossible = 0;
    for await (const readings of readStored(database, range)) {
      const possible = readings.filter(isPossible);
      impossible += readings.length - possible.length;
      yield possible;
    }
    if (impossible > 0)
      logger.warn(
        { stream, after, through, readings: impossible },
        'stored readings name a time after their messages had left the stream, and are not used',
      );
  };
}

/**
 * The latest time that a message which has left the stream may name: it was stored before the first one that is left, or before the last one that
 * there was.
 *
 * @throws NotProven if the answer is from before the messages left.
 */
function findLatestMs({ info }: StreamAnswer, through: number): number {
  const { messages, firstSequence, firstAt, lastAt } = info;
  if (firstSequence <= through)
    throw new NotProven(`${stream} still has message ${through}, which has left it`);
  return Date.parse(messages === 0 ? lastAt : firstAt) + aheadMsMax;
}
