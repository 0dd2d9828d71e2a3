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
