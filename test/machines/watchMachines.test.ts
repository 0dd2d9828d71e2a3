import { Subject } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { createActor, fromCallback, fromPromise } from 'xstate';
import { databaseWatchMachine } from '../../machines/databaseWatchMachine.ts';
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

describe('the watch of the database', () => {
  it('checks at once and every two seconds, treats a late answer as a failure, and distinguishes short and long outages', async () => {
    const succeed = () => Promise.resolve();
    let answer: () => Promise<void> = succeed;
    let [asked, aborted] = [0, 0];
    const watch = createActor(
      databaseWatchMachine.provide({
        actors: {
          ask: fromPromise(async ({ signal }) => {
            asked++;
            signal.addEventListener('abort', () => aborted++);
            await answer();
          }),
        },
        delays: { grace: 10_000 },
      }),
    ).start();
    const refuse = () => Promise.reject(new Error('refused'));
    const hang = () => new Promise<never>(() => undefined);
    const shown = () => (['reachable', 'withinGrace'] as const).map((tag) => watch.getSnapshot().hasTag(tag));
    expect(shown()).toEqual([false, false]);
    await pass(0);
    expect(shown()[0]).toBe(true);
    await pass(4_000);
    expect(asked).toBe(3);
    answer = hang;
    await pass(3_400);
    expect([shown()[0], aborted]).toEqual([true, 0]);
    await pass(100);
    expect([shown()[0], aborted]).toEqual([false, 1]);
    for (const [next, ms, isReachable, isWithinGrace] of [
      [hang, 3_500, false, true],
      [succeed, 2_000, true, true],
      [refuse, 2_000, false, true],
      [refuse, 9_999, false, true],
      [refuse, 1, false, false],
      [succeed, 2_000, true, true],
    ] as const) {
      answer = next;
      await pass(ms);
      expect(shown()).toEqual([isReachable, isWithinGrace]);
    }
    watch.stop();
  });
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
