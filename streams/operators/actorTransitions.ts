import type { Logger } from 'pino';
import { Counter, type Registry } from 'prom-client';
import { type AnyMachineSnapshot, type InspectionEvent, isMachineSnapshot, type StateValue } from 'xstate';

export type ActorInspector = (event: InspectionEvent) => void;

interface ActorTransitionsOptions {
  readonly logger: Logger;
  readonly registry: Registry;
}

/**
 * Counts the transitions of the process actors, and logs them at debug level. Actors are named after their machines and the labels in
 * their contexts, which bounds the number of names and states.
 *
 * @returns an inspector for the root of the actors.
 */
export function createActorTransitions({ logger, registry }: ActorTransitionsOptions): ActorInspector {
  /** The last state of each actor. */
  const states = new WeakMap<object, string>();
  const transitions = new Counter({
    name: 'miner_actor_transitions_total',
    help: 'Number of times an actor of this process entered a state.',
    labelNames: ['actor', 'state'],
    registers: [registry],
  });

  return (event) => {
    if (event.type !== '@xstate.snapshot' || !isMachineSnapshot(event.snapshot)) return;
    const { actorRef, snapshot } = event;
    const [actor, state] = [nameActor(snapshot), describeState(snapshot)];
    if (snapshot.status === 'stopped' || states.get(actorRef) === state) return;
    states.set(actorRef, state);
    transitions.inc({ actor, state });
    logger.debug({ actor, state }, 'transition');
  };
}

/** Actors of one machine are distinguished by the label in their context. */
function nameActor({ machine, context }: AnyMachineSnapshot): string {
  const label: unknown = context.label;
  return typeof label === 'string' ? `${machine.id} ${label}` : machine.id;
}

/**
 * Describes the state as a path. It omits the inside of a routine state, such as a watch that alternates between waiting and checking, and
 * any parallel region that is always routine.
 */
export function describeState(snapshot: AnyMachineSnapshot): string {
  const { value, machine } = snapshot;
  const meta: Record<string, { isRoutineInside?: boolean } | undefined> = snapshot.getMeta();
  const isRoutine = (id: string) => meta[id]?.isRoutineInside === true;

  function describe(inner: StateValue, id: string): string {
    if (typeof inner === 'string') return inner;
    const entries = Object.entries(inner);
    return entries
      .filter(([key]) => entries.length === 1 || !isRoutine(`${id}.${key}`))
      .map(([key, deeper]) => {
        const path = `${id}.${key}`;
        return deeper === undefined || isRoutine(path) ? key : `${key}.${describe(deeper, path)}`;
      })
      .join(' ');
  }

  return describe(value, machine.id);
}
