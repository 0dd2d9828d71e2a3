import { Subject } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { createActor, fromCallback, fromPromise } from 'xstate';
import { moduleMachine, moduleStates } from '../../machines/moduleMachine.ts';
import { type NatsEvent, natsMachine } from '../../machines/natsMachine.ts';
import { useVirtualTime } from '../support/virtualTime.ts';

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

useVirtualTime();

it.each(moduleStates)('a module is %s after a report, unless a newer one was heard', (state) => {
  const module = createActor(moduleMachine).start();
  module.send({ type: `reported.${state}`, observedAtMs: 2 });
  expect(module.getSnapshot().value).toBe(state);
  expect(module.getSnapshot().can({ type: `reported.${state}`, observedAtMs: 1 })).toBe(false);
});

describe('the connection to NATS', () => {
  it('is attempted until a server answers, and shows losses and reconnections', async () => {
    const refused: number[] = [];
    let isAvailable = false;
    const changes$ = new Subject<NatsEvent>();
    const nats = createActor(
      natsMachine.provide({
        actors: {
          connect: fromPromise(async () => {
            if (!isAvailable) throw new Error('refused');
          }),
          link: fromCallback(({ sendBack }) => {
            const subscription = changes$.subscribe(sendBack);
            return () => subscription.unsubscribe();
          }),
        },
        actions: { reportFailure: ({ context: { failures } }) => refused.push(failures) },
        delays: { backoff: 1_000 },
      }),
    ).start();
    const isConnected = () => nats.getSnapshot().hasTag('connected');
    await pass(2_500);
    expect([refused, isConnected()]).toEqual([[1, 2, 3], false]);
    isAvailable = true;
    await pass(500);
    expect(isConnected()).toBe(true);
    changes$.next({ type: 'disconnected' });
    expect(isConnected()).toBe(false);
    changes$.next({ type: 'connected' });
    expect(isConnected()).toBe(true);
    nats.stop();
    expect(changes$.observed).toBe(false);
  });
});
