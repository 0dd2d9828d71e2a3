import { type KeyedEventRow, toMeasurementRow } from '../../actors/feed/eventRows.ts';
import { readStoredAtMs } from '../../actors/messages/streamMessage.ts';
import {
  type CounterActors,
  type CounterOutput,
  createCounterActors,
} from '../../actors/wheel/counterActors.ts';
import type { CounterReading } from '../../actors/wheel/counterReading.ts';
import { decodeCounter } from '../../actors/wheel/decodeCounter.ts';
import type { BucketRow, RoundRow } from '../../actors/wheel/roundFold.ts';
import { noRows } from '../../storage/tables/foldedRows.ts';
import { findLastMessage, receiveBatch } from '../pipeline/receiveBatch.ts';
import { afterRestoration } from '../pipeline/streamFold.ts';
import { createStoredReadings } from './storedReadings.ts';
import { findRejection, type StreamDefinition } from './streamDefinition.ts';

/** `MINER_COUNTER`: readings go to the actors, the recent readings and rows. */
export const counterStream: StreamDefinition<CounterActors> = {
  createActors: ({ genesisTimestamp, installationId, installationsMax, maximumSpeedMmPerSecond }) =>
    createCounterActors({
      genesisMs: genesisTimestamp * 1000,
      publicInstallationId: installationId,
      installationsMax,
      maximumSpeedMmPerSecond,
    }),
  createFold: (actors, { recent, counts }) => ({
    identity: actors.identity,

    receive(batch) {
      const rows = collectRows();
      for (const reading of batch.stored) {
        const outcome = actors.receiveStored(reading);
        if ('output' in outcome) rows.add(outcome.output);
      }
      counts.accepted('MINER_COUNTER', rows.readings.length);
      const { receive } = actors;
      const collect = rows.add;
      const rejections = receiveBatch({ stream: 'MINER_COUNTER', batch, counts, receive, collect });
      if (batch.messages.length === 0) recent.skipTo(batch.position);
      else for (const reading of rows.readings) recent.add(reading);
      actors.noteFolded(findLastMessage(batch));
      return { rows, rejections };
    },

    capture: () => actors.capture(),

    beginRestore: () =>
      afterRestoration(actors.beginRestore(), (through) => {
        recent.reset(through.position);
        actors.noteFolded(through);
      }),

    caughtUp: () => actors.reveal(),
  }),
  judgeContent: (bounds) => (message) =>
    findRejection(decodeCounter(message, readStoredAtMs(message), bounds)),
  remedyFrom: (message) =>
    `rebuild it from the stream: \`npm run miner -- replay --from-sequence ${message}\``,
  createStoredReader: createStoredReadings,
};

/** Rows for ClickHouse from the messages of one batch of `MINER_COUNTER`. */
function collectRows() {
  const readings: CounterReading[] = [];
  const rounds: RoundRow[] = [];
  const buckets: BucketRow[] = [];
  const measurementEvents: KeyedEventRow[] = [];
  return {
    ...noRows,
    readings,
    rounds,
    buckets,
    measurementEvents,
    add: ({ reading, closed, evicted, left }: CounterOutput) => {
      readings.push(reading);
      if (closed.round !== null) rounds.push(closed.round);
      if (closed.bucket !== null) buckets.push(closed.bucket);
      if (left !== undefined) buckets.push(...left);
      for (const event of evicted ?? [])
        measurementEvents.push(toMeasurementRow(event, { storedBy: reading.position }));
    },
  };
}
