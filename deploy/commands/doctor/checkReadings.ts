import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { lastValueFrom, tap } from 'rxjs';
import { createCounterActors } from '../../../actors/wheel/counterActors.ts';
import type { Database } from '../../../storage/database.ts';
import { storedThrough } from '../../../storage/observations.ts';
import { createOldestRowMs, readRowsTtlDays, selectNotOlder } from '../../../storage/rowsTtl.ts';
import type { Tables } from '../../../storage/tables.ts';
import { emptyCheckpoint } from '../../../streams/jetstream/checkpoint.ts';
import { createMessageSource } from '../../../streams/jetstream/messageSource.ts';
import { alwaysOpen } from '../../../streams/operators/gate.ts';
import type { Deployment } from '../../deploymentFile.ts';
import { systemClock } from '../../systemClock.ts';
import { createProgress } from '../progress.ts';
import { type Finding, failed, ok, skipped } from './finding.ts';

export interface CheckReadingsOptions {
  readonly connection: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly database: Database;
  readonly tables: Tables;
  readonly deployment: Deployment;
  readonly logger: Logger;
  readonly progressStream: NodeJS.WriteStream;
}

/** Folds the counter stream again, through the last message stored in ClickHouse, and compares the counts of what rows stay for. */
export async function checkReadings(options: CheckReadingsOptions): Promise<Finding[]> {
  const { jsm, database, tables } = options;
  const { state } = await jsm.streams.info('MINER_COUNTER');
  const oldestMs = createOldestRowMs(await readRowsTtlDays(database, tables.readings), systemClock.nowMs)();
  const stored = await readStoredCounts(database, tables, { firstSequence: state.first_seq, oldestMs });
  if (stored.through === 0) return [skipped('readings', 'ClickHouse holds none yet')];
  if (state.last_seq < stored.through) {
    const detail = `ClickHouse holds readings through ${stored.through}, the stream ends at ${state.last_seq}`;
    return [
      failed(
        'readings',
        detail,
        'the stream lost its end or was replaced; start the service, which recovers and logs the reason',
      ),
    ];
  }
  const folded = await foldThrough(options, { through: stored.through, oldestMs });
  const findings = [compareCounts('readings', folded.readings, stored.readings)];
  if (state.first_seq > 1) {
    const detail = `the stream begins at ${state.first_seq}: rounds before it cannot be folded again`;
    return [...findings, skipped('rounds', detail)];
  }
  return [...findings, compareCounts('rounds', folded.rounds, stored.rounds)];
}

function compareCounts(what: string, inStream: number, inClickHouse: number): Finding {
  if (inStream === inClickHouse) return ok(what, `${inStream} in the stream and in ClickHouse`);
  return failed(
    what,
    `${inStream} in the stream, ${inClickHouse} in ClickHouse`,
    'rebuild it from the stream: `npm run miner -- replay --from-sequence 1`, with --dry-run first to see what changes',
  );
}

async function readStoredCounts(
  database: Database,
  tables: Tables,
  { firstSequence, oldestMs }: { readonly firstSequence: number; readonly oldestMs: number | null },
) {
  const through = await storedThrough(database, tables);
  const count = async (table: string, timeColumn: string) => {
    const notOlder = selectNotOlder(timeColumn, oldestMs);
    const [row] = await database.select(
      `SELECT count() FROM ${table} FINAL WHERE position >= {first:UInt64} AND position <= {through:UInt64}${notOlder.sql}`,
      { first: firstSequence, through, ...notOlder.parameters },
    );
    return Number(row?.[0]);
  };
  const readings = await count(tables.readings, 'received_at');
  return { through, readings, rounds: await count(tables.rounds, 'start') };
}

async function foldThrough(
  options: CheckReadingsOptions,
  { through, oldestMs }: { readonly through: number; readonly oldestMs: number | null },
) {
  const { deployment, progressStream } = options;
  const actors = createCounterActors({
    genesisMs: deployment.genesisTimestamp * 1000,
    publicInstallationId: deployment.installationId,
  });
  const counts = { readings: 0, rounds: 0 };
  const progress = createProgress({
    label: 'readings',
    unit: 'messages',
    total: through,
    stream: progressStream,
    nowMs: Date.now,
  });
  const source = createMessageSource({
    ...options,
    stream: 'MINER_COUNTER',
    clock: systemClock,
    through,
  });
  await lastValueFrom(
    source.batchesAfter(emptyCheckpoint, alwaysOpen).pipe(
      tap(({ messages, position }) => {
        for (const message of messages) {
          const outcome = actors.receive(message);
          if ('rejection' in outcome) continue;
          const { reading, closed } = outcome;
          const fromMs = oldestMs ?? Number.NEGATIVE_INFINITY;
          if (reading.receivedAtMs >= fromMs) counts.readings++;
          if (closed.round !== null && closed.round.startMs >= fromMs) counts.rounds++;
        }
        progress.update(position);
      }),
    ),
    { defaultValue: null },
  );
  progress.stop();
  return counts;
}
