import { expect, it } from 'vitest';
import { createSourceProgress } from '../../streams/jetstream/source/sourceProgress.ts';

it('a source is as fresh as the first end of the stream that it has reached, also while newer messages keep coming', () => {
  const progress = createSourceProgress();
  progress.restartAfter(0);
  expect([progress.noteEnd(10, 1_000), progress.noteEnd(20, 2_000)]).toEqual([false, false]);
  expect([progress.advance(9), progress.counts.freshAsOfMs]).toEqual([false, null]);
  expect([progress.advance(10), progress.counts.freshAsOfMs]).toEqual([true, 1_000]);
  expect(progress.isAtEnd()).toBe(false);
  expect([progress.noteEnd(20, 3_000), progress.advance(20)]).toEqual([false, true]);
  expect([progress.counts.freshAsOfMs, progress.isAtEnd()]).toEqual([3_000, true]);
});
