import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { EMPTY, firstValueFrom, from, lastValueFrom, type Observable, Subject, tap, toArray } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { joinEncodedRows } from '../../storage/rowInserts.ts';
import type { MessageBatch } from '../../streams/jetstream/messageBatch.ts';
import type { MessageSource } from '../../streams/jetstream/messageSource.ts';
import { startOfStream } from '../../streams/jetstream/streamPosition.ts';
import { alwaysOpen, createGate } from '../../streams/operators/gate.ts';
import type { RangeResult } from '../../streams/ranges/foldRange.ts';
import { cutRanges, type MessageRange } from '../../streams/ranges/messageRange.ts';
import { createRangedSource, isRangeBatch } from '../../streams/ranges/rangedSource.ts';
import { createRangeThreads } from '../../streams/ranges/rangeThreads.ts';
import { runs } from '../support/propertyRuns.ts';

const streamCreated = 'stream';
const nothingJoined = { rounds: [], buckets: [], evicted: [] };
const publicReadings = {
  installationId: 'wheel.one',
  telemetryIds: [],
  storedAtNanos: new BigInt64Array(),
  values: new Float64Array(),
  closed: new Map(),
};

function buildResult({ fromSequence, throughSequence }: MessageRange, byteLength = 1): RangeResult {
  return {
    folded: { fromSequence, installations: [], publicReadings },
    rows: { ...joinEncodedRows([]), byteLength },
    place: { streamCreated, position: throughSequence, digest: null },
  };
}

function buildMessages(position: number): MessageBatch {
  const place = () => ({ streamCreated, position, digest: null });
  return { messages: [], stored: [], streamCreated, position, weight: 0, place };
}

/** A source of the ranges of ten messages through the hundredth, and what became of it. */
function startSource(options: {
  readonly fold?: (range: MessageRange) => Promise<RangeResult | null>;
  readonly canJoin?: (fromSequence: number) => boolean;
}) {
  const { fold = async (range) => buildResult(range), canJoin = () => true } = options;
  const begun: number[] = [];
  const joined: boolean[] = [];
  const readFrom: number[] = [];
  const messages = (through: number): MessageSource => ({
    batchesAfter: ({ position }): Observable<MessageBatch> => {
      readFrom.push(position);
      return from([buildMessages(position + 5), buildMessages(through)]);
    },
    ends$: EMPTY,
    status: () => source.status(),
  });
  const source = createRangedSource({
    cut: (after) => cutRanges({ after, through: 100, fromSequence: 1, messagesMax: 10 }),
    fold: (range) => {
      begun.push(range.fromSequence);
      return fold(range);
    },
    ahead: 3,
    join: ({ fromSequence }) => (canJoin(fromSequence) ? () => nothingJoined : null),
    createSource: messages,
    onRange: (isJoined) => joined.push(isJoined),
  });
  return { source, begun, joined, readFrom };
}

describe('ranges of a stream', () => {
  it('hold each message once, in order, and none from both sides of the first one that is rebuilt', () => {
    const sequence = fc.integer({ min: 0, max: 300 });
    fc.assert(
      fc.property(
        sequence,
        sequence,
        sequence,
        fc.integer({ min: 1, max: 90 }),
        (after, through, fromSequence, messagesMax) => {
          const ranges = cutRanges({ after, through, fromSequence, messagesMax });
          let expected = after + 1;
          for (const range of ranges) {
            expect(range.fromSequence).toBe(expected);
            const length = range.throughSequence - range.fromSequence + 1;
            expect(length).toBeGreaterThan(0);
            expect(length).toBeLessThanOrEqual(messagesMax);
            expect(range.fromSequence >= fromSequence || range.throughSequence < fromSequence).toBe(true);
            expected = range.throughSequence + 1;
          }
          expect(expected).toBe(Math.max(after, through) + 1);
        },
      ),
      { numRuns: runs(200) },
    );
  });

  it('are emitted in order, whichever is folded first', async () => {
    const waiting: (() => void)[] = [];
    const { source, begun } = startSource({
      fold: (range) =>
        new Promise((resolve) => {
          waiting.push(() => resolve(buildResult(range)));
          // The last one of those that may be begun lets all of them end, itself first.
          if (waiting.length === 4 || range.throughSequence > 60)
            for (const end of waiting.splice(0).reverse()) end();
        }),
    });
    const emitted = await lastValueFrom(source.batchesAfter(startOfStream, alwaysOpen).pipe(toArray()));
    expect(emitted.map(({ position }) => position)).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
    expect(emitted.every(isRangeBatch)).toBe(true);
    expect(begun).toHaveLength(10);
    expect(source.status().position).toBe(100);
  });

  it('are read as messages where the state in front of them is not continued, or they were not folded', async () => {
    const { source, joined, readFrom } = startSource({
      fold: async (range) => (range.fromSequence === 51 ? null : buildResult(range)),
      canJoin: (fromSequence) => fromSequence !== 21,
    });
    const emitted = await lastValueFrom(source.batchesAfter(startOfStream, alwaysOpen).pipe(toArray()));
    expect(emitted.map(({ position }) => position)).toEqual([
      10, 20, 25, 30, 40, 50, 55, 60, 70, 80, 90, 100,
    ]);
    expect(readFrom).toEqual([20, 50]);
    expect(joined.filter((isJoined) => !isJoined)).toHaveLength(2);
  });

  it('of a stream that was created again are read as messages', async () => {
    const { source, readFrom } = startSource({});
    const place = { streamCreated: 'another', position: 90, digest: null };
    await lastValueFrom(source.batchesAfter(place, alwaysOpen));
    expect(readFrom).toEqual([90]);
  });

  it('wait at the gate, and no more of them are begun meanwhile', async () => {
    const { source, begun } = startSource({ fold: async (range) => buildResult(range, 60) });
    const isClosed = new Subject<void>();
    const gate = createGate({ max: 100, onClosed: () => isClosed.next() });
    const closed = firstValueFrom(isClosed);
    const emitted: number[] = [];
    const all = lastValueFrom(
      source.batchesAfter(startOfStream, gate).pipe(tap(({ position }) => emitted.push(position))),
    );
    await closed;
    await turn();
    // Two have entered; the third one is asked for, and three more are begun.
    expect([emitted, begun]).toEqual([
      [10, 20],
      [1, 11, 21, 31, 41, 51],
    ]);
    for (let left = 0; left < 10; left++) {
      gate.leave(60);
      await turn();
    }
    await all;
    expect(emitted).toHaveLength(10);
  });
});

describe('threads that fold ranges', () => {
  const startThreads = (source: string, count = 2) => {
    const program = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
    const threads = createRangeThreads({ count, program, settings: null });
    onTestFinished(() => threads.stop());
    return threads;
  };
  const ranges = cutRanges({ after: 0, through: 50, fromSequence: 1, messagesMax: 10 });

  it('fold one each at a time', async () => {
    const threads = startThreads(`
      import { parentPort } from 'node:worker_threads';
      let isBusy = false;
      parentPort.on('message', (range) => {
        if (isBusy) throw new Error('two at a time');
        isBusy = true;
        setImmediate(() => { isBusy = false; parentPort.postMessage(range); });
      });`);
    expect(await Promise.all(ranges.map(threads.fold))).toEqual(ranges);
  });

  it('that fail end what waits for them, with the reason', async () => {
    const thrown = startThreads(`
      import { parentPort } from 'node:worker_threads';
      parentPort.on('message', async () => { throw new Error('a fault'); });`);
    const results = await Promise.allSettled(ranges.map(thrown.fold));
    for (const result of results)
      expect(result).toMatchObject({
        status: 'rejected',
        reason: { name: 'RangeThreadFailed', message: 'a thread of the replay has failed: a fault' },
      });
    await expect(thrown.fold({ fromSequence: 1, throughSequence: 2 })).rejects.toThrow('a fault');
    const ended = startThreads('process.exit(3)', 1);
    await expect(ended.fold({ fromSequence: 1, throughSequence: 2 })).rejects.toThrow('ended with status 3');
  });
});
