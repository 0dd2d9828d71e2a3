import { Registry } from 'prom-client';
import { ignoreElements, NEVER, type Observable, Subject, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createActor, setup } from 'xstate';
import { fromOwningObservable } from '../../streams/operators/actorOwner.ts';
import { createActorTransitions } from '../../streams/operators/actorTransitions.ts';
import { deliverInOrder } from '../../streams/operators/deliverInOrder.ts';
import { silentLogger } from '../support/silentLogger.ts';

/** An actor that holds a delivery machine while it is open. */
function start(deliver: () => Observable<unknown>, random = Math.random) {
  const items$ = new Subject<string>();
  const registry = new Registry();
  const machine = setup({
    types: { events: {} as { type: 'end' } },
    actors: {
      pipeline: fromOwningObservable(({ owner }) =>
        items$.pipe(
          deliverInOrder({
            label: 'letters',
            owner,
            weigh: () => 1,
            batchWeight: 1,
            gatherMs: 0,
            deliver,
            random,
          }),
          ignoreElements(),
        ),
      ),
    },
  }).createMachine({
    id: 'parent',
    initial: 'open',
    states: {
      open: { invoke: { src: 'pipeline', onError: 'failed' }, on: { end: 'closed' } },
      closed: {},
      failed: {},
    },
  });
  const actor = createActor(machine, { inspect: createActorTransitions({ logger: silentLogger, registry }) });
  actor.start();
  const states = async () =>
    [...(await registry.metrics()).matchAll(/^miner_actor_state\{actor="(.*)",state="(.*)"\} 1$/gm)].map(
      ([, name, state]) => `${name}: ${state}`,
    );
  return { actor, items$, states };
}

describe('a machine inside an Observable that an actor runs', () => {
  it('is inspected with that actor, and ends with it', async () => {
    const { actor, items$, states } = start(() => NEVER);
    items$.next('a');
    expect((await states()).sort()).toEqual(['delivery letters: delivering', 'parent: open']);
    actor.send({ type: 'end' });
    expect(await states()).toEqual(['parent: closed']);
    expect(items$.observed).toBe(false);
  });

  it('ends with the Observable', async () => {
    const { items$, states } = start(() => NEVER);
    items$.complete();
    expect(await states()).toEqual(['parent: open']);
  });

  it('fails the Observable with a fault of its own', async () => {
    const { items$, states } = start(
      () => throwError(() => new Error('unavailable')),
      () => {
        throw new Error('a fault of this program');
      },
    );
    items$.next('a');
    expect(await states()).toContain('parent: failed');
  });
});
