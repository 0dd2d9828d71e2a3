import type { Logger } from 'pino';
import { Counter, Gauge, type Registry } from 'prom-client';
import { type AnyMachineSnapshot, type InspectionEvent, isMachineSnapshot, type StateValue } from 'xstate';

export type ActorInspector = (event: InspectionEvent) => void;

interface ActorTransitionsOptions {
  readonly logger: Logger;
  readonly registry: Registry;
}

/**
 * Logs the transitions of the process actors, at debug level, and counts them. Actors are named after their machines, so the number of names and
 * states is bounded by the machines and by the labels in their contexts.
 *
 * @returns an inspector for the root of the actors.
 */
export function createActorTransitions({ logger, registry }: ActorTransitionsOptions): ActorInspector {
  /** By its name, each actor that runs. */
  const current = new Map<string, { readonly actorRef: object; readonly state: string }>();
  const transitions = new Counter({
    name: 'miner_actor_transitions_total',
    help: 'Times that an actor of the process has entered a state.',
    labelNames: ['actor', 'state'],
    registers: [registry],
  });
  new Gauge({
    name: 'miner_actor_state',
    help: '1 for the state that an actor of the process is in.',
    labelNames: ['actor', 'state'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [actor, { state }] of current) this.set({ actor, state }, 1);
    },
  });

  return (event) => {
    if (event.type !== '@xstate.snapshot' || !isMachineSnapshot(event.snapshot)) return;
    const { actorRef, snapshot } = event;
    const [actor, state] = [nameActor(snapshot), describeState(snapshot)];
    const known = current.get(actor);
    const isKnown = known?.actorRef === actorRef;
    // This actor's successor, of the same name, may have started before it ended.
    if (snapshot.status === 'active') current.set(actor, { actorRef, state });
    else if (isKnown) current.delete(actor);
    if (snapshot.status === 'stopped' || (isKnown && known.state === state)) return;
    transitions.inc({ actor, state });
    logger.debug({ actor, state }, 'transition');
  };
}

/** Actors of one machine are distinguished by the label in their context. */
function nameActor({ machine, context }: AnyMachineSnapshot): string {
  const label: unknown = context?.label;
  return typeof label === 'string' ? `${machine.id} ${label}` : machine.id;
}

/**
 * The state as a path. The inside of a routine state, such as a watch that alternates between waiting and checking, is omitted; a parallel
 * region that is always routine is omitted altogether.
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
