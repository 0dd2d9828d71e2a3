import { concat, EMPTY, ignoreElements, NEVER, Observable, of, Subject, throwError, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { type DeliveryOptions, deliverInOrder } from '../../../streams/operators/deliverInOrder.ts';

function inVirtualTime(test: (helpers: Parameters<Parameters<TestScheduler['run']>[0]>[0]) => void) {
  new TestScheduler((actual, expected) => expect(actual).toEqual(expected)).run(test);
}

/** Items are letters; each weighs 1, a capital one is urgent, and `-` weighs nothing. */
const letters: Omit<DeliveryOptions<string>, 'deliver'> = {
  weigh: (item) => (item === '0' ? 0 : 1),
  isUrgent: (item) => item !== item.toLowerCase(),
  batchWeight: 3,
  gatherMs: () => 10,
  random: () => 0.5,
  backoff: { firstMs: 10, longestMs: 40 },
};

describe('delivery in order', () => {
  it.each([
    ['gathers a few items for a while', '-a--b-------------|', '--|', '-------------(ab)-|'],
    ['delivers a full batch at once', '-(abcde) 21ms |', '--|', '---(abc) 7ms (de) 10ms |'],
    [
      'delivers full batches behind another',
      '-(abcdef0gh) 28ms |',
      '8ms |',
      '9ms (abc) 3ms (def0) 12ms (gh)-|',
    ],
    ['delivers all before an urgent item at once', '-a-B------c 13ms |', '--|', '5ms (aB) 13ms c-|'],
    ['emits a weightless item in its turn', '-0-(ab0)---------------|', '--|', '-0-------------(ab0)---|'],
  ])('%s, and emits each item once it is delivered', (_, source, delivery, delivered) => {
    inVirtualTime(({ hot, cold, expectObservable }) => {
      const result = hot(source).pipe(deliverInOrder({ ...letters, deliver: () => cold(delivery) }));
      expectObservable(result).toBe(delivered);
    });
  });

  it('delivers what waits at once on a flush, also behind a delivery', () => {
    inVirtualTime(({ hot, cold, expectObservable }) => {
      const source = hot('  -a-b------------|');
      const flush$ = hot('  f-f-f');
      const delivered = source.pipe(deliverInOrder({ ...letters, flush$, deliver: () => cold('----|') }));
      expectObservable(delivered).toBe('------a---b-----|');
    });
  });

  it('delivers the identical batch again, later and later, before anything else', () => {
    inVirtualTime(({ hot, cold, expectObservable, flush }) => {
      const batches: string[] = [];
      const failing = [1, 2, 3, 4];
      const deliver = (items: readonly string[]): Observable<unknown> => {
        batches.push(items.join(''));
        return failing.shift() === undefined ? cold('------|') : throwError(() => new Error('unavailable'));
      };
      const source = hot('  -(abc)(def) 200ms |');
      const delivered = source.pipe(deliverInOrder({ ...letters, deliver }));
      // From 1 on, after 10, 20, 40 and 40 ms.
      expectObservable(delivered).toBe('117ms (abc)-(def) 83ms |');
      flush();
      expect(batches).toEqual(['abc', 'abc', 'abc', 'abc', 'abc', 'def']);
    });
  });
});

it('a delivery tells the waiting weight and its failures', () => {
  inVirtualTime(({ flush }) => {
    const weights: number[] = [];
    const failures = [new Error('first'), new Error('second')];
    const answers = [...failures.map((error) => throwError(() => error)), EMPTY];
    const deliver = () => answers.shift() ?? EMPTY;
    const onWaiting = (weight: number) => weights.push(weight);
    const failed: unknown[] = [];
    const onFailure = (error: unknown, failures: number) => failed.push([error, failures]);
    const recovered: number[] = [];
    const onRecovery = (failures: number) => recovered.push(failures);
    concat(of('a', 'b', 'c', 'd'), timer(100).pipe(ignoreElements()))
      .pipe(deliverInOrder({ ...letters, deliver, onWaiting, onFailure, onRecovery }))
      .subscribe();
    flush();
    expect([Math.max(...weights), weights.at(-1)]).toEqual([4, 0]);
    expect(failed).toEqual([
      [failures[0], 1],
      [failures[1], 2],
    ]);
    expect(recovered).toEqual([2]);
  });
});

it('a delivery ends with its subscription', () => {
  let isDelivering = false;
  const deliver = () =>
    new Observable(() => {
      isDelivering = true;
      return () => {
        isDelivering = false;
      };
    });
  const source = new Subject<string>();
  const subscription = source.pipe(deliverInOrder({ ...letters, batchWeight: 1, deliver })).subscribe();
  source.next('a');
  expect([isDelivering, source.observed]).toEqual([true, true]);
  subscription.unsubscribe();
  expect([isDelivering, source.observed]).toEqual([false, false]);
});

const fault = (): never => {
  throw new Error('a fault of this program');
};
const unavailable = () => throwError(() => new Error('unavailable'));
it.each<[string, Partial<DeliveryOptions<string>>]>([
  ['a report of success', { onDelivered: fault }],
  ['a report of failure', { deliver: unavailable, onFailure: fault }],
  ['the random part of a wait', { deliver: unavailable, random: fault }],
  ['a report of the weight', { onWaiting: fault }],
  ['the weight of an item', { weigh: fault }],
  ['the urgency of an item', { isUrgent: fault }],
])('an error that %s throws is the error of the result', (_, callbacks) => {
  const errors: unknown[] = [];
  const source = new Subject<string>();
  source
    .pipe(deliverInOrder({ ...letters, batchWeight: 1, deliver: () => EMPTY, ...callbacks }))
    .subscribe({ error: (error) => errors.push(error) });
  source.next('a');
  expect(errors).toEqual([new Error('a fault of this program')]);
  expect(source.observed).toBe(false);
});

it('a repeated delivery whose report of recovery throws is an error of the result', () => {
  inVirtualTime(({ cold, expectObservable }) => {
    let attempts = 0;
    const deliver = () => (attempts++ === 0 ? unavailable() : cold('|'));
    const result = concat(of('a'), NEVER).pipe(
      deliverInOrder({ ...letters, batchWeight: 1, deliver, onRecovery: fault }),
    );
    expectObservable(result).toBe('10ms #', undefined, new Error('a fault of this program'));
  });
});
