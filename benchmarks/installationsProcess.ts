import { once } from 'node:events';
import { uptime } from 'node:os';
import { setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { lastValueFrom, NEVER, Observable } from 'rxjs';
import type { FoldRecord } from '../actors/foldRecord.ts';
import type { StreamMessage } from '../actors/messages/streamMessage.ts';
import { counterSubject } from '../actors/messages/subjects.ts';
import type { Clock } from '../actors/views/clock.ts';
import { type CounterActors, createCounterActors } from '../actors/wheel/counterActors.ts';
import {
  type CapturedCounters,
  createCounterRestoration,
  encodeCounters,
} from '../actors/wheel/counterSnapshot.ts';
import type { InstallationState } from '../actors/wheel/installationActor.ts';
import { openDatabase } from '../storage/database.ts';
import { migrate } from '../storage/migrations.ts';
import { createRecentReadings } from '../storage/recentReadings.ts';
import { createSnapshotStore, type SnapshotChain } from '../storage/snapshots.ts';
import { noOwner } from '../streams/actorOwner.ts';
import { createCounterFold } from '../streams/counter/counterFold.ts';
import { batchMessagesMax, type MessageBatch } from '../streams/jetstream/messageBatch.ts';
import type { MessageSource } from '../streams/jetstream/messageSource.ts';
import { startOfStream } from '../streams/jetstream/streamPosition.ts';
import { createMessageCounts } from '../streams/messageCounts.ts';
import { createRowWriter } from '../streams/rowWriter.ts';
import { createStateSaver } from '../streams/stateSaver.ts';
import { runStreamPipeline } from '../streams/streamPipeline.ts';
import { type EventLoopMeasurement, measureEventLoop } from './measureEventLoop.ts';
import { measureHeapBytes } from './measureHeapBytes.ts';
import { genesisMs, readingBody } from './readingLoad.ts';

/** The process of the benchmark of many installations: it folds their readings as the service does, and tells what that took. */

export interface InstallationsTask {
  readonly dir: string;
  readonly installations: number;
  readonly seconds: number;
}

const stream = 'MINER_COUNTER';
const streamCreated = 'synthetic';
/** All that an installation remembers of rounds is there after a day. */
const daySeconds = 86_400;
/** As the service has it. */
const policy = { intervalMs: 60_000, messages: 500_000 };
const incrementSeconds = 60;
const clock: Clock = {
  nowMs: Date.now,
  monotonicMs: () => performance.now(),
  bootMs: () => uptime() * 1_000,
};
const settings = { genesisMs, publicInstallationId: 'wheel-0' };

/** Every message is a reading of the next installation, one of each per second. */
function createLoad(installations: number) {
  let cpuMicros = 0;
  const messageAt = (number: number): StreamMessage => {
    const id = `wheel-${number % installations}`;
    const second = daySeconds + Math.floor(number / installations);
    const observedAtMs = genesisMs + second * 1_000;
    return {
      seq: daySeconds + 1 + number,
      subject: counterSubject(id),
      data: Buffer.from(readingBody(id, second, observedAtMs)),
      timestampNanos: BigInt(observedAtMs) * 1_000_000n,
    };
  };
  return {
    /** Consecutive messages, as a source gives them; the time to make them up does not count. */
    batch: (from: number, to: number): MessageBatch => {
      const before = process.cpuUsage();
      const messages = Array.from({ length: to - from }, (_, index) => messageAt(from + index));
      const position = daySeconds + to;
      cpuMicros += toMicros(process.cpuUsage(before));
      return {
        messages,
        stored: [],
        streamCreated,
        position,
        weight: messages.reduce((sum, { data }) => sum + data.length + 400, 0),
        place: () => ({ streamCreated, position, digest: null }),
      };
    },
    cpuMicros: () => cpuMicros,
  };
}

function toMicros({ user, system }: NodeJS.CpuUsage): number {
  return user + system;
}

/** A wheel that was at work for a day. */
function foldDay(): CapturedCounters {
  const actors = createCounterActors(settings);
  for (let second = 0; second < daySeconds; second++) {
    const observedAtMs = genesisMs + second * 1_000;
    actors.receive({
      seq: second + 1,
      subject: counterSubject('wheel-0'),
      data: Buffer.from(readingBody('wheel-0', second, observedAtMs)),
      timestampNanos: BigInt(observedAtMs) * 1_000_000n,
    });
  }
  const restoration = createCounterRestoration();
  for (const record of actors.capture().all()) restoration.add(record);
  return restoration.complete();
}

/** All wheels after a day: one is folded, the others have other names and rounds of other work. */
function listRecords(installations: number): Iterable<FoldRecord> {
  const day = foldDay();
  const [wheel] = day.installations;
  if (wheel === undefined) throw new Error('the wheel of the first day is missing');
  const { acceptance, roundState } = wheel;
  const others = Array.from({ length: installations - 1 }, (_, index): InstallationState => {
    const number = index + 1;
    return {
      acceptance: { ...acceptance, latest: { ...acceptance.latest, installationId: `wheel-${number}` } },
      roundState: {
        ...roundState,
        recentRounds: roundState.recentRounds.map(({ roundId, workUnits }) => ({
          roundId,
          workUnits: workUnits + BigInt((number * roundId * 7_919) % 1_000),
        })),
      },
    };
  });
  return encodeCounters({ ...day, installations: [wheel, ...others] });
}

function restore(actors: CounterActors, installations: number): { readonly bytesEach: number } {
  const before = measureHeapBytes();
  const restoration = actors.beginRestore();
  for (const record of listRecords(installations)) restoration.add(record);
  restoration.complete()();
  return { bytesEach: (measureHeapBytes() - before) / installations };
}

async function run({ dir, installations, seconds }: InstallationsTask) {
  const logger = pino({ level: 'error' });
  const database = openDatabase({ path: dir });
  const tables = await migrate(database, logger);
  const actors = createCounterActors(settings);
  const { bytesEach } = restore(actors, installations);
  const writer = createRowWriter({ stream, database, tables: () => tables, clock, logger });
  const recent = createRecentReadings({ storedThrough: () => writer.storedThrough() });
  const fold = createCounterFold({ actors, recent, counts: createMessageCounts(new Registry(), [stream]) });
  const snapshots = createSnapshotStore({ database, tables: () => tables, logger });
  const saver = createStateSaver({ stream, fold, snapshots, clock });
  const load = createLoad(installations);
  const total = installations * seconds;

  const source: MessageSource = {
    ends$: NEVER,
    batchesAfter: (_checkpoint, gate) =>
      new Observable((subscriber) => {
        const { signal } = new AbortController();
        void (async () => {
          for (let from = 0; from < total; from += batchMessagesMax) {
            if (!gate.isOpen) await gate.opened(signal);
            const batch = load.batch(from, Math.min(from + batchMessagesMax, total));
            gate.enter(batch.weight);
            subscriber.next(batch);
            await turn();
          }
          subscriber.complete();
        })().catch((error: unknown) => subscriber.error(error));
      }),
    status: () => {
      throw new Error('a made-up source has no status');
    },
  };
  const from = { ...startOfStream, streamCreated, position: daySeconds };
  const cpuBefore = process.cpuUsage();
  const startedMs = performance.now();
  await lastValueFrom(
    runStreamPipeline(from, {
      source,
      fold,
      sinks: { writer, rejections: null },
      policy,
      onFolded: () => undefined,
      isSaveDue: () => false,
      capture: saver.capture,
      save: saver.save,
      onSaveFailure: (error) => {
        throw error;
      },
      ended$: NEVER,
      owner: noOwner,
    }),
    { defaultValue: null },
  );
  const elapsedSeconds = (performance.now() - startedMs) / 1_000;
  const cpuSeconds = (toMicros(process.cpuUsage(cpuBefore)) - load.cpuMicros()) / 1e6;
  const stored = Number((await database.select(`SELECT count() FROM ${tables.readings}`))[0]?.[0]);
  if (stored !== total) throw new Error(`${stored} of ${total} readings were stored`);

  let chain: SnapshotChain = await snapshots.saveBase(headerAt(1), actors.capture().all());
  const foldMinute = (minute: number) => {
    const first = total + minute * incrementSeconds * installations;
    for (let second = 0; second < incrementSeconds; second++)
      fold.receive(load.batch(first + second * installations, first + (second + 1) * installations));
  };
  const increments: EventLoopMeasurement<SnapshotChain>[] = [];
  for (let minute = 0; minute < 3; minute++) {
    foldMinute(minute);
    const before = chain;
    const saved = await measureEventLoop(async () => {
      const { changes } = actors.capture();
      if (changes === null) throw new Error('what changed is not known');
      return snapshots.saveIncrement(before, headerAt(2 + minute), changes());
    });
    chain = saved.result;
    increments.push(saved);
  }
  const residentBytes = process.memoryUsage.rss();
  await database.close();
  return {
    readingsPerCpuSecond: total / cpuSeconds,
    readingsPerSecond: total / elapsedSeconds,
    bytesEach,
    baseBytes: chain.baseBytes,
    incrementBytes: chain.incrementBytes / increments.length,
    increments: increments.map(({ ms, activeMs, longestStallMs }) => ({ ms, activeMs, longestStallMs })),
    residentBytes,
    peakBytes: process.resourceUsage().maxRSS * 1024,
  };
}

function headerAt(position: number) {
  const digest = null;
  return {
    stream,
    foldVersion: 1,
    configuration: '',
    streamCreated,
    position,
    digest,
    takenAtMs: position,
  } as const;
}

export type InstallationsMeasured = Awaited<ReturnType<typeof run>>;

const [task] = (await once(process, 'message')) as [InstallationsTask];
process.send?.(await run(task));
process.disconnect();
