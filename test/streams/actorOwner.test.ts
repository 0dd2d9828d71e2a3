import { Observable, Subject } from 'rxjs';
import { expect, it } from 'vitest';
import { createActor, type InspectionEvent, isMachineSnapshot, setup } from 'xstate';
import { type ActorOwner, fromOwningObservable } from '../../streams/operators/actorOwner.ts';

const innerMachine = setup({
  types: { events: {} as { type: 'break' } },
}).createMachine({
  id: 'inner',
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
  /** States of the running machines by name. */
  const states: Record<string, unknown> = {};
  const inspect = (event: InspectionEvent) => {
    if (event.type !== '@xstate.snapshot' || !isMachineSnapshot(event.snapshot)) return;
    const { machine, value, status } = event.snapshot;
    if (status === 'active') states[machine.id] = value;
    else delete states[machine.id];
  };
  const actor = createActor(machine, { inspect });
  actor.start();
  return { actor, change$, states };
}

it('a machine inside an Observable that an actor runs is inspected with that actor', () => {
  const { change$, states } = start();
  change$.next('break');
  expect(states).toEqual({ inner: 'broken', parent: 'open' });
});

it.each<[string, (started: ReturnType<typeof start>) => void, string]>([
  ['its actor leaves it', ({ actor }) => actor.send({ type: 'end' }), 'closed'],
  ['the Observable completes', ({ change$ }) => change$.complete(), 'open'],
  ['the Observable fails', ({ change$ }) => change$.error(new Error('a fault of this program')), 'failed'],
])('a machine inside an Observable ends when %s', (_, end, state) => {
  const started = start();
  end(started);
  expect(started.states).toEqual({ parent: state });
  expect(started.change$.observed).toBe(false);
});
