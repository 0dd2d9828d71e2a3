import type { JetStreamManager } from '@nats-io/jetstream';
import type { Logger } from 'pino';
import { aheadMsMax } from '../../actors/messages/futureTimes.ts';
import type { CounterReading } from '../../actors/wheel/counterReading.ts';
import type { Database } from '../../storage/database.ts';
import { readGenerationIdentity } from '../../storage/generationIdentity.ts';
import { readStored } from '../../storage/observations.ts';
import type { OldestRowMs } from '../../storage/rowsTtl.ts';
import { createSnapshotStore } from '../../storage/snapshots.ts';
import type { ActiveTables, Tables } from '../../storage/tables.ts';
import type { StreamAnswer, StreamVerifier } from '../jetstream/sourceVerification.ts';
import { NotProven } from '../jetstream/suspicions.ts';
import { readReadingRowOrigins } from './readingRowOrigins.ts';

const stream = 'MINER_COUNTER';

interface StoredReadingsOptions {
  readonly database: Database;
  readonly jsm: JetStreamManager;
  readonly verifier: StreamVerifier;
  readonly tables: ActiveTables;
  readonly oldestRowMs: OldestRowMs;
  readonly logger: Logger;
}

/**
 * Reads the stored readings of messages that have left the stream, after one sequence through another. Reads none if the stream
 * was recreated since: the same sequences then belong to other messages. Leaves out those that name a time after the messages had left, which
 * earlier versions accepted.
 */
export function createStoredReadings(options: StoredReadingsOptions) {
  const { database, verifier, oldestRowMs, logger } = options;
  return async function* (after: number, through: number): AsyncIterable<readonly CounterReading[]> {
    const tables = options.tables();
    const answer = await verifier.ask();
    if (!(await areOfStream(options, tables, answer))) {
      logger.warn(
        { stream, after, through },
        'the stored readings belong to an earlier stream, and are not used',
      );
      return;
    }
    const latestMs = findLatestMs(answer, through);
    const isPossible = ({ observedAtMs, receivedAtMs }: CounterReading) =>
      Math.max(observedAtMs, receivedAtMs) <= latestMs;
    let impossible = 0;
    for await (const readings of readStored(database, tables, { after, through, oldestMs: oldestRowMs() })) {
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
function findLatestMs({ info: { state } }: StreamAnswer, through: number): number {
  const { messages, first_seq: first, first_ts: firstAt, last_ts: lastAt } = state;
  if (first <= through) throw new NotProven(`${stream} still has message ${through}, which has left it`);
  return Date.parse(messages === 0 ? lastAt : firstAt) + aheadMsMax;
}

/**
 * Whether the rows were made from the current stream. The newest snapshot, or the note made when the tables were created, names their
 * stream. If the stream was recreated while a process ran, both may be older than the rows. Then the newest row's message decides.
 *
 * @throws NotProven while the rows may be of the current stream after all.
 */
async function areOfStream(
  { database, jsm, verifier }: StoredReadingsOptions,
  tables: Tables,
  answer: StreamAnswer,
) {
  const { created } = answer.info;
  const saved = await createSnapshotStore({ database, tables: () => tables }).list(stream);
  const noted = await readGenerationIdentity(database, tables);
  const known = noted === null ? saved : [...saved, noted];
  if (known.some(({ streamCreated }) => streamCreated === created)) return true;
  const claim = `the stored readings are not of the ${stream} created ${created}`;
  return !verifier.isProven(answer, { claim, isConfirmed: !(await holdsNewestRow()) });

  async function holdsNewestRow() {
    for (const { position, isMessage } of await readReadingRowOrigins(database, tables)) {
      const stored = await jsm.streams.getMessage(stream, { seq: position });
      if (stored !== null && isMessage(stored)) return true;
    }
    return false;
  }
}
