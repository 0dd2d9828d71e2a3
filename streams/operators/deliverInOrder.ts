import { defer, type MonoTypeOperatorFunction, NEVER, Observable, type ObservableInput, tap } from 'rxjs';
import { createActor, fromObservable } from 'xstate';
import { type BackoffBounds, backoffDelay, defaultBackoff } from '../../machines/backoff.ts';
import { type DeliveryState, deliveryMachine } from '../../machines/deliveryMachine.ts';
import { type ActorOwner, noOwner } from './actorOwner.ts';

export interface DeliveryStatus {
  readonly state: DeliveryState;
  /** Weight of all waiting items, including the batch being delivered. */
  readonly waiting: number;
  /** Of the batch being delivered; 0 while deliveries succeed. */
  readonly failures: number;
}

export interface DeliveryOptions<Item> {
  /** Distinguishes its machine in logs and metrics. */
  readonly label: string;
  /** Of its machine; none unless it is given. */
  readonly owner?: ActorOwner;
  /** What an item adds to a batch; an item without weight is delivered with those before it. */
  readonly weigh: (item: Item) => number;
  /** A batch is delivered once it has this weight, */
  readonly batchWeight: number;
  /** or once its first item has waited this long. */
  readonly gatherMs: number;
  /** Whether the queue must be delivered at once, since something waits for this item. */
  readonly isUrgent?: (item: Item) => boolean;
  /** Whenever this emits, the queue is delivered without waiting for more. */
  readonly flush$?: Observable<unknown>;
  /** Delivers items, and completes once they are acknowledged. If it fails, the outcome is unknown, and it is called again with the same items. */
  readonly deliver: (items: readonly Item[]) => ObservableInput<unknown>;
  readonly backoff?: BackoffBounds;
  readonly random?: () => number;
  readonly onStatus?: (status: DeliveryStatus) => void;
  readonly onDelivered?: (items: readonly Item[]) => void;
  readonly onFailure?: (error: unknown, failures: number) => void;
  readonly onRecovery?: (failures: number) => void;
}

/**
 * Delivers items in batches, one batch at a time, in order, each at least once. An item is emitted once it is delivered. Backpressure is applied
 * at the source of the items, not here.
 */
export function deliverInOrder<Item>(options: DeliveryOptions<Item>): MonoTypeOperatorFunction<Item> {
  const {
    weigh,
    gatherMs,
    flush$ = NEVER,
    deliver,
    backoff = defaultBackoff,
    random = Math.random,
  } = options;
  const { owner = noOwner, onStatus, onDelivered, onFailure, onRecovery } = options;
  return (source) =>
    new Observable<Item>((subscriber) => {
      const queue = createDeliveryQueue(options);
      let batch: readonly Item[] | null = null;
      /** A flush was requested, and the queue has not been emptied since. */
      let isFlushing = false;
      let isEnded = false;

      function add(item: Item) {
        // It needs no delivery, and no item precedes it.
        if (weigh(item) === 0 && batch === null && queue.isEmpty()) return subscriber.next(item);
        queue.add(item);
        actor.send({ type: 'added' });
        report();
      }

      function report() {
        const { value, context } = actor.getSnapshot();
        const underWay = (batch ?? []).reduce((sum, item) => sum + weigh(item), 0);
        onStatus?.({ state: value, waiting: queue.weight() + underWay, failures: context.failures });
      }

      function takeBatch(): readonly Item[] {
        const items = queue.take();
        if (queue.isEmpty()) isFlushing = false;
        return items;
      }

      function emitBatch(items: readonly Item[]) {
        // Items that arrive while these are emitted are queued after them.
        for (const item of items) subscriber.next(item);
        batch = null;
      }

      const deliverBatch = defer(() => {
        batch ??= takeBatch();
        const items = batch;
        return defer(() => deliver(items)).pipe(
          tap({
            error: (error) => onFailure?.(error, failures() + 1),
            complete: () => {
              if (failures() > 0) onRecovery?.(failures());
              onDelivered?.(items);
              emitBatch(items);
            },
          }),
        );
      });
      const actor = createActor(
        deliveryMachine.provide({
          actors: { deliver: fromObservable(() => deliverBatch) },
          guards: {
            hasMore: () => !queue.isEmpty(),
            isDue: () => !queue.isEmpty() && (queue.isDue() || isFlushing || isEnded),
          },
          delays: {
            gathering: gatherMs,
            backoff: backoffDelay(backoff, random),
          },
        }),
        { id: 'delivery', input: { label: options.label }, ...owner.options },
      );
      const failures = () => actor.getSnapshot().context.failures;
      const watching = actor.subscribe({
        next: ({ value }) => {
          report();
          if (isEnded && value === 'idle') subscriber.complete();
        },
        error: (error) => subscriber.error(error),
      });
      actor.start();

      const flushing = flush$.subscribe(() => {
        if (queue.isEmpty()) return;
        isFlushing = true;
        actor.send({ type: 'flushRequested' });
      });
      const upstream = source.subscribe({
        next: add,
        error: (error) => subscriber.error(error),
        complete: () => {
          isEnded = true;
          if (batch === null && queue.isEmpty()) subscriber.complete();
          else actor.send({ type: 'flushRequested' });
        },
      });
      return () => {
        upstream.unsubscribe();
        flushing.unsubscribe();
        watching.unsubscribe();
        owner.end(actor);
      };
    });
}

/** The items that wait for delivery, with their weight. */
function createDeliveryQueue<Item>({
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
    /** Whether there is a whole batch, or something waits for one of the items. */
    isDue: () => weight >= batchWeight || urgentCount > 0,
    add: (item: Item) => {
      items.push(item);
      weight += weigh(item);
      if (isUrgent(item)) urgentCount++;
    },
    take: (): readonly Item[] => {
      let taken = 0;
      let count = 0;
      while (count < items.length && taken < batchWeight) taken += weigh(items[count++] as Item);
      // Items without weight that follow need not wait.
      while (count < items.length && weigh(items[count] as Item) === 0) count++;
      const batch = items.slice(0, count);
      items = items.slice(count);
      weight -= taken;
      urgentCount -= batch.filter(isUrgent).length;
      return batch;
    },
  };
}
