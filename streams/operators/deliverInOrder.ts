import {
  defer,
  type MonoTypeOperatorFunction,
  NEVER,
  Observable,
  type ObservableInput,
  retry,
  Subscription,
  timer,
} from 'rxjs';
import { type BackoffBounds, backoffMs, defaultBackoff } from '../../machines/backoff.ts';

export interface DeliveryOptions<Item> {
  /** The weight that an item adds to a batch; an item without weight is delivered with its predecessors. */
  readonly weigh: (item: Item) => number;
  /** A batch is delivered once it has this weight. */
  readonly batchWeight: number;
  /** A smaller batch is delivered once its first item has waited this long. */
  readonly gatherMs: () => number;
  /** Whether the queue must be delivered at once, since something waits for this item. */
  readonly isUrgent?: (item: Item) => boolean;
  /** Whenever this emits, the queue is delivered without waiting for more. */
  readonly flush$?: Observable<unknown>;
  /** Delivers items, and completes once they are acknowledged. If it fails, the outcome is unknown, and it is called again with the same items. */
  readonly deliver: (items: readonly Item[]) => ObservableInput<unknown>;
  readonly backoff?: BackoffBounds;
  readonly random?: () => number;
  /** Told the weight of all waiting items, including the batch being delivered, after each change. */
  readonly onWaiting?: (weight: number) => void;
  readonly onDelivered?: (items: readonly Item[]) => void;
  readonly onFailure?: (error: unknown, failures: number) => void;
  readonly onRecovery?: (failures: number) => void;
}

/**
 * Delivers items in order, in one batch at a time, each item at least once, and then emits them. Backpressure is applied at the source of
 * the items, not here. An error that a callback throws becomes the error of the result.
 */
export function deliverInOrder<Item>(options: DeliveryOptions<Item>): MonoTypeOperatorFunction<Item> {
  const { weigh, gatherMs, flush$ = NEVER, deliver } = options;
  const { backoff = defaultBackoff, random = Math.random } = options;
  const { onWaiting, onDelivered, onFailure, onRecovery } = options;
  return (source) =>
    new Observable<Item>((subscriber) => {
      const queue = createQueue(options);
      let batchWeight = 0;
      let failures = 0;
      let isFlushing = false;
      let hasEnded = false;
      let state: 'idle' | 'gathering' | 'delivering' = 'idle';
      /** The wait or the delivery in progress. */
      let step = new Subscription();

      const enter = (entered: typeof state) => {
        state = entered;
        onWaiting?.(queue.weight() + batchWeight);
      };
      const isDue = () => queue.isDue() || isFlushing || hasEnded;
      const fail = (error: unknown) => subscriber.error(error);
      const failing =
        <Given extends unknown[]>(work: (...given: Given) => void) =>
        (...given: Given) => {
          try {
            work(...given);
          } catch (error) {
            fail(error);
          }
        };
      function take(work: Observable<unknown>, complete: () => void) {
        step.unsubscribe();
        const own = new Subscription();
        step = own;
        // Work that completes at once has begun the next step by then.
        own.add(work.subscribe({ error: fail, complete: failing(complete) }));
      }
      function proceed() {
        if (!queue.isEmpty() && isDue()) return deliverBatch();
        if (!queue.isEmpty()) {
          enter('gathering');
          return take(timer(gatherMs()), deliverBatch);
        }
        isFlushing = false;
        enter('idle');
        if (hasEnded) subscriber.complete();
      }
      function deliverBatch() {
        const batch = queue.takeBatch();
        batchWeight = batch.weight;
        isFlushing &&= !queue.isEmpty();
        const attempt = defer(() => deliver(batch.items));
        const wait = (error: unknown) => {
          failures++;
          onFailure?.(error, failures);
          return timer(backoffMs(failures, random(), backoff));
        };
        enter('delivering');
        take(attempt.pipe(retry({ delay: wait })), () => {
          if (failures > 0) onRecovery?.(failures);
          onDelivered?.(batch.items);
          // Items that arrive during this loop are queued after it.
          for (const item of batch.items) subscriber.next(item);
          batchWeight = 0;
          failures = 0;
          proceed();
        });
      }
      function add(item: Item) {
        // It needs no delivery, and no item precedes it.
        if (weigh(item) === 0 && state === 'idle') return subscriber.next(item);
        queue.add(item);
        if (state === 'idle' || (state === 'gathering' && isDue())) proceed();
        else enter(state);
      }
      function flush() {
        isFlushing = !queue.isEmpty();
        if (state === 'gathering') proceed();
      }
      function end() {
        hasEnded = true;
        if (state === 'idle' || state === 'gathering') proceed();
      }

      subscriber.add(() => step.unsubscribe());
      subscriber.add(flush$.subscribe(failing(flush)));
      subscriber.add(source.subscribe({ next: failing(add), error: fail, complete: failing(end) }));
    });
}

/** The items that wait for delivery, with their weight. */
function createQueue<Item>({
  weigh,
  batchWeight,
  isUrgent = () => false,
}: Pick<DeliveryOptions<Item>, 'weigh' | 'batchWeight' | 'isUrgent'>) {
  let items: Item[] = [];
  let weight = 0;
  let urgentCount = 0;
  return {
    isEmpty: () => items.length === 0,
    weight: () => weight,
    isDue: () => weight >= batchWeight || urgentCount > 0,
    add: (item: Item) => {
      items.push(item);
      weight += weigh(item);
      if (isUrgent(item)) urgentCount++;
    },
    takeBatch: () => {
      let taken = 0;
      // Items without weight that follow need not wait.
      const found = items.findIndex((item) => {
        if (taken >= batchWeight && weigh(item) > 0) return true;
        taken += weigh(item);
        return false;
      });
      const batch = items.slice(0, found === -1 ? items.length : found);
      items = items.slice(batch.length);
      weight -= taken;
      urgentCount -= batch.filter(isUrgent).length;
      return { items: batch, weight: taken };
    },
  };
}
