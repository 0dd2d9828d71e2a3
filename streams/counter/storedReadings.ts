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
import type { StreamVerifier } from '../jetstream/sourceVerification.ts';
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
 * was recreated since: the same sequences then belong to other messages.
 */
export function createStoredReadings(options: StoredReadingsOptions) {
  const { database, oldestRowMs, logger } = options;
  return async function* (after: number, through: number): AsyncIterable<readonly CounterReading[]> {
    const tables = options.tables();
    if (!(await areOfStream(options, tables))) {
      logger.warn(
        { stream, after, through },
        'the stored readings belong to an earlier stream, and are not used',
      );
      return;
    }
    const latestMs = await findLatestMs(options);
    for await (const readings of readStored(database, tables, { after, through, oldestMs: oldestRowMs() }))
      yield readings.filter(
        ({ observedAtMs, receivedAtMs }) => Math.max(observedAtMs, receivedAtMs) <= latestMs,
      );
  };
}

/**
 * The latest time that a message which has left the stream may name, since it was stored before the first one that is left. Earlier versions
 * accepted and stored readings of the far future.
 */
async function findLatestMs({ jsm }: StoredReadingsOptions): Promise<number> {
  const { state } = await jsm.streams.info(stream);
  return state.messages === 0 ? Number.POSITIVE_INFINITY : Date.parse(state.first_ts) + aheadMsMax;
}

/**
 * Whether the rows were made from the current stream. The newest snapshot, or the note made when the tables were created, names their
 * stream. If the stream was recreated while a process ran, both may be older than the rows. Then the newest row's message decides.
 *
 * @throws NotProven while the rows may be of the current stream after all.
 */
async function areOfStream({ database, jsm, verifier, logger }: StoredReadingsOptions, tables: Tables) {
  const info = await jsm.streams.info(stream);
  const { created } = info;
  const saved = await createSnapshotStore({ database, tables: () => tables, logger }).list(stream);
  const noted = await readGenerationIdentity(database, tables);
  const known = noted === null ? saved : [...saved, noted];
  if (known.some(({ streamCreated }) => streamCreated === created)) return true;
  const claim = `the stored readings are not of the ${stream} created ${created}`;
  return !verifier.isProven(info, { claim, isConfirmed: !(await holdsNewestRow()) });

  async function holdsNewestRow() {
    for (const { position, isMessage } of await readReadingRowOrigins(database, tables)) {
      const stored = await jsm.streams.getMessage(stream, { seq: position });
      if (stored !== null && isMessage(stored)) return true;
    }
    return false;
  }
}
