import { defer, type MonoTypeOperatorFunction, NEVER, Observable, type ObservableInput, tap } from 'rxjs';
import { createActor, type SnapshotFrom } from 'xstate';
import { type BackoffBounds, backoffDelay, defaultBackoff } from '../../machines/backoff.ts';
import { type DeliveryState, deliveryMachine } from '../../machines/deliveryMachine.ts';
import { type ActorOwner, noOwner } from './actorOwner.ts';

export interface DeliveryStatus {
  readonly state: DeliveryState;
  /** Weight of all waiting items, including the batch being delivered. */
  readonly waiting: number;
  /** Failed attempts of the batch being delivered; 0 while deliveries succeed. */
  readonly failures: number;
}

export interface DeliveryOptions<Item> {
  /** Distinguishes its machine in logs and metrics. */
  readonly label: string;
  /** Owner of its machine; `noOwner` by default. */
  readonly owner?: ActorOwner;
  /** The weight that an item adds to a batch; an item without weight is delivered with its predecessors. */
  readonly weigh: (item: Item) => number;
  /** A batch is delivered once it has this weight. */
  readonly batchWeight: number;
  /** A smaller batch is delivered once its first item has waited this long. */
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
 * Delivers items in order, in one batch at a time, each item at least once, and then emits them. Backpressure is applied at the source of
 * the items, not here.
 */
export function deliverInOrder<Item>(options: DeliveryOptions<Item>): MonoTypeOperatorFunction<Item> {
  const { label, weigh, gatherMs, flush$ = NEVER, deliver, owner = noOwner } = options;
  const { backoff = defaultBackoff, random, onStatus, onDelivered, onFailure, onRecovery } = options;
  return (source) =>
    new Observable<Item>((subscriber) => {
      const deliverItems = (items: readonly Item[]) =>
        defer(() => deliver(items)).pipe(
          tap({
            error: (error) => onFailure?.(error, failures() + 1),
            complete: () => {
              if (failures() > 0) onRecovery?.(failures());
              onDelivered?.(items);
              // Items that arrive during this loop are queued after it.
              for (const item of items) subscriber.next(item);
            },
          }),
        );
      const queue = createDeliveryQueue(options, deliverItems);
      const delays = { gathering: gatherMs, backoff: backoffDelay(backoff, random) };
      const actor = createActor(deliveryMachine.provide({ delays }), {
        id: 'delivery',
        input: { label, queue },
        ...owner.options,
      });
      const failures = () => actor.getSnapshot().context.failures;
      const report = ({ value, context }: SnapshotFrom<typeof deliveryMachine>) => {
        const waiting = queue.weight() + (context.batch?.weight ?? 0);
        onStatus?.({ state: value, waiting, failures: context.failures });
        if (context.hasEnded && value === 'idle') subscriber.complete();
      };
      const add = (item: Item) => {
        const { value } = actor.getSnapshot();
        // It needs no delivery, and no item precedes it.
        if (weigh(item) === 0 && value === 'idle') return subscriber.next(item);
        queue.add(item);
        // The machine waits for the first item and for a full batch, not for each of the others.
        if (value === 'idle' || (value === 'gathering' && queue.isDue())) actor.send({ type: 'added' });
        else report(actor.getSnapshot());
      };
      const subscriptions = [
        actor.subscribe({ next: report, error: (error) => subscriber.error(error) }),
        flush$.subscribe(() => actor.send({ type: 'flushRequested' })),
      ];
      actor.start();
      const upstream = source.subscribe({
        next: add,
        error: (error) => subscriber.error(error),
        complete: () => actor.send({ type: 'ended' }),
      });
      return () => {
        upstream.unsubscribe();
        for (const subscription of subscriptions) subscription.unsubscribe();
        owner.end(actor);
      };
    });
}

/** The items that wait for delivery, with their weight. */
function createDeliveryQueue<Item>(
  {
    weigh,
    batchWeight,
    isUrgent = () => false,
  }: Pick<DeliveryOptions<Item>, 'weigh' | 'batchWeight' | 'isUrgent'>,
  deliver: (items: readonly Item[]) => Observable<unknown>,
) {
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
    take: () => {
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
      return { weight: taken, deliver: () => deliver(batch) };
    },
  };
}
