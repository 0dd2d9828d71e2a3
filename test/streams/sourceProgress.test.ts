import { expect, it } from 'vitest';
import { createSourceProgress } from '../../streams/jetstream/source/sourceProgress.ts';

it('a source is as fresh as the newest end of the stream that it has reached', () => {
  const progress = createSourceProgress();
  progress.restartAfter(0);
  expect([progress.noteEnd(10, 1_000), progress.noteEnd(20, 2_000)]).toEqual([false, false]);
  expect([progress.advance(9), progress.counts.freshAsOfMs]).toEqual([false, null]);
  expect([progress.advance(10), progress.counts.freshAsOfMs]).toEqual([true, 1_000]);
  expect(progress.isAtEnd()).toBe(false);
  expect([progress.noteEnd(20, 3_000), progress.advance(20)]).toEqual([false, true]);
  expect([progress.counts.freshAsOfMs, progress.isAtEnd()]).toEqual([3_000, true]);
});

it('a source knows no end after an interruption, and keeps its counts', () => {
  const progress = createSourceProgress();
  progress.verifiedAt(500);
  progress.noteEnd(0, 1_000);
  progress.advance(3);
  progress.addMissed(2);
  progress.addMissed(3);
  const reached = { position: 3, missedMessages: 5, interruptions: 0, freshAsOfMs: 1_000, verifiedAtMs: 500 };
  expect(progress.counts).toEqual({ ...reached, lastSequence: 3 });
  // An answer that is older than the messages.
  expect([progress.noteEnd(2, 2_000), progress.counts.lastSequence]).toEqual([true, 3]);
  progress.noteEnd(9, 3_000);
  progress.addInterruption();
  const interrupted = { ...reached, interruptions: 1, freshAsOfMs: 2_000 };
  expect([progress.counts, progress.isAtEnd()]).toEqual([{ ...interrupted, lastSequence: null }, false]);
  progress.restartAfter(4);
  // The end seen before the restart counts no more.
  expect([progress.advance(9), progress.counts]).toEqual([
    false,
    { ...interrupted, position: 9, freshAsOfMs: null, lastSequence: null },
  ]);
  progress.noteEnd(9, 4_000);
  progress.skipTo(11);
  expect([progress.isAtEnd(), progress.counts.lastSequence]).toEqual([true, 9]);
  progress.forgetEnd();
  expect([progress.isAtEnd(), progress.counts.freshAsOfMs]).toEqual([false, 4_000]);
});
