// The program of a thread that folds ranges of a made-up stream (`ranges.ts`).
import { parentPort, workerData } from 'node:worker_threads';
import { createCounterDecoder } from '../actors/wheel/decodeCounter.ts';
import { foldRange } from '../streams/ranges/foldRange.ts';
import type { MessageRange } from '../streams/ranges/messageRange.ts';
import type { SyntheticThreadData } from './ranges.ts';
import { createSyntheticSource } from './syntheticMessages.ts';

// Of the thread that has started this one.
const { messages, settings } = workerData as SyntheticThreadData;
const options = {
  ...settings,
  subject: null,
  decode: createCounterDecoder(),
  createSource: (through: number) => createSyntheticSource(messages, through),
};
parentPort?.on('message', async (range: MessageRange) => {
  parentPort?.postMessage(await foldRange(range, options));
});
