import { Registry } from 'prom-client';
import { Observable, Subject } from 'rxjs';
import { expect, it } from 'vitest';
import { createActor, setup } from 'xstate';
import { type ActorOwner, fromOwningObservable } from '../../streams/operators/actorOwner.ts';
import { createActorTransitions } from '../../streams/operators/actorTransitions.ts';
import { silentLogger } from '../support/silentLogger.ts';

const innerMachine = setup({
  types: { events: {} as { type: 'break' }, context: {} as { readonly label: string } },
}).createMachine({
  id: 'inner',
  context: { label: 'one' },
  initial: 'sound',
  states: { sound: { on: { break: 'broken' } }, broken: {} },
});

/** An Observable that holds a machine while it is subscribed. `change$` can break the machine, or end or fail the Observable. */
function holdMachine(owner: ActorOwner, change$: Observable<'break'>): Observable<never> {
  return new Observable((subscriber) => {
    const inner = createActor(innerMachine, owner.options).start();
    subscriber.add(() => owner.end(inner));
    subscriber.add(
      change$.subscribe({
        next: (type) => inner.send({ type }),
        error: (error) => subscriber.error(error),
        complete: () => subscriber.complete(),
      }),
    );
  });
}

/** An actor that runs such an Observable while it is open. */
function start() {
  const change$ = new Subject<'break'>();
  const registry = new Registry();
  const machine = setup({
    types: { events: {} as { type: 'end' } },
    actors: { held: fromOwningObservable(({ owner }) => holdMachine(owner, change$)) },
  }).createMachine({
    id: 'parent',
    initial: 'open',
    states: {
      open: { invoke: { src: 'held', onError: 'failed' }, on: { end: 'closed' } },
      closed: {},
      failed: {},
    },
  });
  const actor = createActor(machine, { inspect: createActorTransitions({ logger: silentLogger, registry }) });
  actor.start();
  const states = async () =>
    [...(await registry.metrics()).matchAll(/^miner_actor_state\{actor="(.*)",state="(.*)"\} 1$/gm)]
      .map(([, name, state]) => `${name}: ${state}`)
      .sort();
  return { actor, change$, states };
}

it('a machine inside an Observable that an actor runs is inspected with that actor', async () => {
  const { change$, states } = start();
  change$.next('break');
  expect(await states()).toEqual(['inner one: broken', 'parent: open']);
});

it.each<[string, (started: ReturnType<typeof start>) => void, string]>([
  ['its actor leaves it', ({ actor }) => actor.send({ type: 'end' }), 'closed'],
  ['the Observable completes', ({ change$ }) => change$.complete(), 'open'],
  ['the Observable fails', ({ change$ }) => change$.error(new Error('a fault of this program')), 'failed'],
])('a machine inside an Observable ends when %s', async (_, end, state) => {
  const started = start();
  end(started);
  expect(await started.states()).toEqual([`parent: ${state}`]);
  expect(started.change$.observed).toBe(false);
});
