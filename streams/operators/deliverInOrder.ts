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
  const { weigh, batchWeight, gatherMs, isUrgent = () => false, flush$ = NEVER, deliver } = options;
  const { backoff = defaultBackoff, random = Math.random } = options;
  const { owner = noOwner, onStatus, onDelivered, onFailure, onRecovery } = options;
  const weighAll = (items: readonly Item[]) => items.reduce((sum, item) => sum + weigh(item), 0);
  return (source) =>
    new Observable<Item>((subscriber) => {
      let queue: Item[] = [];
      let queuedWeight = 0;
      /** Urgent items in the queue: while there are any, batches are delivered without gathering. */
      let urgentCount = 0;
      let batch: readonly Item[] | null = null;
      /** A flush was requested, and the queue has not been emptied since. */
      let isFlushing = false;
      let isEnded = false;

      function add(item: Item) {
        const weight = weigh(item);
        // It needs no delivery, and no item precedes it.
        if (weight === 0 && batch === null && queue.length === 0) return subscriber.next(item);
        queue.push(item);
        queuedWeight += weight;
        if (isUrgent(item)) urgentCount++;
        actor.send({ type: 'added' });
        report();
      }

      function report() {
        const { value, context } = actor.getSnapshot();
        onStatus?.({
          state: value,
          waiting: queuedWeight + weighAll(batch ?? []),
          failures: context.failures,
        });
      }

      function takeBatch(): readonly Item[] {
        let taken = 0;
        let count = 0;
        while (count < queue.length && taken < batchWeight) taken += weigh(queue[count++] as Item);
        // Items without weight that follow need not wait.
        while (count < queue.length && weigh(queue[count] as Item) === 0) count++;
        const items = queue.slice(0, count);
        queue = queue.slice(count);
        queuedWeight -= taken;
        urgentCount -= items.filter(isUrgent).length;
        if (queue.length === 0) isFlushing = false;
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
            hasMore: () => queue.length > 0,
            isDue: () =>
              queue.length > 0 && (queuedWeight >= batchWeight || urgentCount > 0 || isFlushing || isEnded),
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
        if (queue.length === 0) return;
        isFlushing = true;
        actor.send({ type: 'flushRequested' });
      });
      const upstream = source.subscribe({
        next: add,
        error: (error) => subscriber.error(error),
        complete: () => {
          isEnded = true;
          if (batch === null && queue.length === 0) subscriber.complete();
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
