// The program of a thread that folds ranges (`rangeThreads.ts`).
import { parentPort, workerData } from 'node:worker_threads';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { pino } from 'pino';
import { createCounterDecoder } from '../../actors/wheel/decodeCounter.ts';
import { connectNats } from '../jetstream/connection.ts';
import { createMessageSource } from '../jetstream/messageSource.ts';
import { type FoldRangeOptions, foldRange } from './foldRange.ts';
import type { MessageRange } from './messageRange.ts';
import type { RangeThreadSettings } from './rangeThreads.ts';

// What cannot be read is reported by the thread that reads it next, which waits for this one.
const logger = pino({ level: 'silent' });

async function connect(settings: RangeThreadSettings): Promise<FoldRangeOptions> {
  const { signal } = new AbortController();
  const connection = await connectNats({ ...settings.nats, name: 'miner replay, a range', logger, signal });
  const source = {
    connection,
    js: jetstream(connection),
    jsm: await jetstreamManager(connection),
    stream: 'MINER_COUNTER',
    clock: { nowMs: () => Date.now(), monotonicMs: () => performance.now() },
    logger,
  } as const;
  return {
    ...settings,
    decode: createCounterDecoder(),
    createSource: (through) => createMessageSource({ ...source, through }),
  };
}

// Of the thread that has started this one.
const options = connect(workerData as RangeThreadSettings);
parentPort?.on('message', async (range: MessageRange) => {
  parentPort?.postMessage(await foldRange(range, await options));
});
