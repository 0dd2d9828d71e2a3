import type { Logger } from 'pino';
import { Counter, Gauge, type Registry } from 'prom-client';
import {
  type AnyActorRef,
  type AnyMachineSnapshot,
  type InspectionEvent,
  isMachineSnapshot,
  type StateValue,
} from 'xstate';

/** Receives every event of the actors of a system. */
export type ActorInspector = (event: InspectionEvent) => void;

/** A process actor, by its name in logs and metrics. */
export type NamedSnapshot = readonly [name: string, snapshot: AnyMachineSnapshot];

export interface ActorTransitionsOptions {
  /** The current process actors. */
  readonly actors: () => Iterable<NamedSnapshot>;
  readonly logger: Logger;
  readonly registry: Registry;
}

/**
 * Logs the transitions of the process actors, at debug level, and counts them. Actors are named after their machines, so the number of names and
 * states is bounded by the machines.
 *
 * @returns creates an inspector; `of` is appended to the actor's name, to distinguish several actors of one machine.
 */
export function createActorTransitions({
  actors,
  logger,
  registry,
}: ActorTransitionsOptions): (of?: string) => ActorInspector {
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
      for (const [actor, snapshot] of actors()) this.set({ actor, state: describeState(snapshot) }, 1);
    },
  });

  return (of) => {
    const states = new WeakMap<object, string>();
    return (event) => {
      if (event.type !== '@xstate.snapshot' || !isMachineSnapshot(event.snapshot)) return;
      const state = describeState(event.snapshot);
      if (states.get(event.actorRef) === state) return;
      states.set(event.actorRef, state);
      const actor = nameActor(event.snapshot, of);
      transitions.inc({ actor, state });
      logger.debug({ actor, state }, 'transition');
    };
  };
}

/** The machines under a root, itself included. */
export function listMachines(root: AnyMachineSnapshot): NamedSnapshot[] {
  const actors: (AnyActorRef | undefined)[] = Object.values(root.children);
  const children = actors.flatMap((child) => {
    const snapshot: unknown = child?.getSnapshot();
    return isMachineSnapshot(snapshot) ? listMachines(snapshot) : [];
  });
  return [nameSnapshot(root), ...children];
}

/** An actor that is the only one of its machine. */
export function nameSnapshot(snapshot: AnyMachineSnapshot): NamedSnapshot {
  return [nameActor(snapshot), snapshot];
}

export function nameActor({ machine }: AnyMachineSnapshot, of?: string): string {
  return of === undefined ? machine.id : `${machine.id} ${of}`;
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
