import {
  type AnyStateMachine,
  type EventFromLogic,
  getInitialSnapshot,
  getNextSnapshot,
  type StateValueFrom,
} from 'xstate';

/** The state of a machine whose every state follows from one observation alone. */
export function observed<Machine extends AnyStateMachine>(
  machine: Machine,
  event: EventFromLogic<Machine>,
): StateValueFrom<Machine> {
  const any: AnyStateMachine = machine;
  return getNextSnapshot(any, getInitialSnapshot(any), event).value as StateValueFrom<Machine>;
}

/**
 * The same for an observation of a few yes and no, asked with every request: the machine is asked once for each
 * combination.
 */
export function createFlagObserver<Flags extends Readonly<Record<string, boolean>>, State>(
  ask: (flags: Flags) => State,
): (flags: Flags) => State {
  const states = new Map<number, State>();
  return (flags) => {
    let key = 0;
    for (const name in flags) key = key * 2 + (flags[name] ? 1 : 0);
    const known = states.get(key);
    if (known !== undefined) return known;
    const state = ask(flags);
    states.set(key, state);
    return state;
  };
}
