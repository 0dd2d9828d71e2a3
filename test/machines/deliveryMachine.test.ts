import { of } from 'rxjs';
import { expect, it, vi } from 'vitest';
import { createActor } from 'xstate';
import { deliveryMachine } from '../../machines/deliveryMachine.ts';
import { useVirtualTime } from '../support/virtualTime.ts';

useVirtualTime();

it('a flush delivers what waits at once, batch by batch, and later items are gathered again', async () => {
  const delivered: number[] = [];
  let waiting = 0;
  const queue = {
    isEmpty: () => waiting === 0,
    isDue: () => waiting >= 10,
    take: () => {
      const weight = Math.min(waiting, 2);
      waiting -= weight;
      return { weight, deliver: () => of(delivered.push(weight)) };
    },
  };
  const machine = deliveryMachine.provide({ delays: { gathering: 1_000, backoff: 1 } });
  const delivery = createActor(machine, { input: { label: 'one', queue } }).start();
  const add = (items: number) => {
    waiting += items;
    delivery.send({ type: 'added' });
    return delivery.getSnapshot().value;
  };
  expect([add(5), delivered]).toEqual(['gathering', []]);
  delivery.send({ type: 'flushRequested' });
  expect([delivery.getSnapshot().value, delivered]).toEqual(['idle', [2, 2, 1]]);
  expect([add(1), delivered.length]).toEqual(['gathering', 3]);
  await vi.advanceTimersByTimeAsync(999);
  expect(delivered).toHaveLength(3);
  await vi.advanceTimersByTimeAsync(1);
  expect(delivered).toEqual([2, 2, 1, 1]);
  expect(add(2)).toBe('gathering');
  delivery.send({ type: 'ended' });
  expect([delivery.getSnapshot().value, delivered.at(-1)]).toEqual(['idle', 2]);
  expect([add(3), delivered]).toEqual(['idle', [2, 2, 1, 1, 2, 2, 1]]);
});
