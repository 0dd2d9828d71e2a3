import { map, type Observable, takeUntil, throwError, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import {
  createSnapshotMarks,
  type Folded,
  type SnapshotMark,
} from '../../../streams/operators/snapshotMarks.ts';

type Item = Folded | SnapshotMark<string>;

function inVirtualTime(test: (helpers: Parameters<Parameters<TestScheduler['run']>[0]>[0]) => void) {
  new TestScheduler((actual, expected) => expect(actual).toEqual(expected)).run(test);
}

/** Digits are batches through that position; a mark is shown as `m` and its position. */
function startMarks(
  source: Observable<string>,
  save: (mark: SnapshotMark<string>) => Observable<unknown>,
  failures: unknown[] = [],
) {
  const { set, save: saved } = createSnapshotMarks<Folded, string>({
    policy: { intervalMs: 20, messages: 5 },
    from: 1,
    capture: ({ position }) => `state ${position}`,
    save,
    onFailure: (error) => failures.push(error),
  });
  return source.pipe(
    map((digit): Folded => ({ kind: 'batch', position: Number(digit), weight: 1 })),
    set,
    saved,
    map((item: Item) => (item.kind === 'mark' ? `m${item.position}` : String(item.position))),
    // Marks that never end must fail the test instead of keeping it busy.
    takeUntil(timer(1_000)),
  );
}

const values = Object.fromEntries([
  ...'123456789'.split('').map((digit) => [digit, digit]),
  ['a', 'm1'],
  ['b', 'm2'],
  ['c', 'm6'],
  ['d', 'm9'],
  ['e', 'm3'],
  ['f', 'm7'],
]);

describe('snapshot marks', () => {
  it('are set after a number of messages, or after an interval with a message', () => {
    inVirtualTime(({ hot, cold, expectObservable }) => {
      const source = hot('-1----6------------------9--------------------------------|');
      //                  5 messages after 1; 20 ms after that mark, 9 has come; nothing after it
      expectObservable(startMarks(source, () => cold('|'))).toBe('-1----(6c) 15ms 9d 31ms |', values);
    });
  });

  it('are set one at a time, and delay no other item', () => {
    inVirtualTime(({ hot, cold, expectObservable }) => {
      const source = hot('-6-----9---|');
      // Saved from 1 until 9; 9 is marked at the end.
      expectObservable(startMarks(source, () => cold('--------|'))).toBe('-6-----9-c---------(d|)', values);
    });
  });

  it('cover everything at the end, also after a failed one', () => {
    inVirtualTime(({ hot, cold, expectObservable }) => {
      const failFirst = (failing: Observable<string>) => {
        let attempts = 0;
        return () => (attempts++ === 0 ? failing : cold<string>('|'));
      };
      const ends = (source: string, save: () => Observable<unknown>, expected: string) =>
        expectObservable(startMarks(hot(source), save)).toBe(expected, values);
      ends('-1-2-3|', () => cold('--|'), '-1-2-3--(e|)');
      ends('-6-7-|', () => cold('------|'), '-6-7---c---(f|)');
      ends('-6---|', failFirst(cold('--#')), '-6---(c|)');
      ends('-6-|', failFirst(cold('----#')), '-6---(c|)');
      ends('-6---|', () => cold('--|'), '-6-c-|');
      ends('---|', () => cold('|'), '---|');
    });
  });

  it('end with the error of their source', () => {
    inVirtualTime(({ hot, cold, expectObservable }) => {
      expectObservable(
        startMarks(hot('-1-#'), () => cold('|')),
        '----!',
      ).toBe('-1-#', values);
    });
  });

  it('are reported if they cannot be saved, and set again', () => {
    inVirtualTime(({ hot, cold, expectObservable, flush }) => {
      const failures: unknown[] = [];
      let attempts = 0;
      const source = hot('-2---- 20ms 3 30ms |');
      const save = () => (attempts++ === 0 ? throwError(() => new Error('unavailable')) : cold<string>('|'));
      expectObservable(startMarks(source, save, failures)).toBe('-2---- 20ms 3 13ms e 16ms |', values);
      flush();
      expect(failures).toHaveLength(1);
    });
  });
});
