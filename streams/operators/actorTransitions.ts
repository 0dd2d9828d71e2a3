import type { Logger } from 'pino';
import { Counter, type Registry } from 'prom-client';
import { type AnyMachineSnapshot, type InspectionEvent, isMachineSnapshot, type StateValue } from 'xstate';
import { registerMetrics } from '../../actors/registerMetrics.ts';

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
  /** Running actors by name. */
  const current = new Map<string, { readonly actorRef: object; readonly state: string }>();
  const transitions = new Counter({
    name: 'miner_actor_transitions_total',
    help: 'Number of times an actor of this process entered a state.',
    labelNames: ['actor', 'state'],
    registers: [registry],
  });
  registerMetrics(registry, {
    miner_actor_state: [
      'State of each actor of this process: 1 for the current state.',
      () => Array.from(current, ([actor, { state }]) => [1, actor, state]),
      'actor',
      'state',
    ],
  });

  return (event) => {
    if (event.type !== '@xstate.snapshot' || !isMachineSnapshot(event.snapshot)) return;
    const { actorRef, snapshot } = event;
    const [actor, state] = [nameActor(snapshot), describeState(snapshot)];
    const known = current.get(actor);
    const isKnown = known?.actorRef === actorRef;
    // A successor of the same name may have started before this actor ended.
    if (snapshot.status === 'active') current.set(actor, { actorRef, state });
    else if (isKnown) current.delete(actor);
    if (snapshot.status === 'stopped' || (isKnown && known.state === state)) return;
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
