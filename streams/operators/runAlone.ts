import { createActor, toPromise } from 'xstate';
import type { Member } from '../../machines/groupMachine.ts';
import type { ActorInspector } from './actorTransitions.ts';

/** A machine that runs without a supervisor. */
export interface LoneMember {
  /** Rejects only for a fault of this program. */
  readonly ended: Promise<void>;
  /** Asks it to end within `graceMs`, and resolves once it has ended. */
  stop(options: { graceMs: number }): Promise<void>;
}

/** Runs a machine for a command that does nothing else. */
export function runAlone({ logic, input }: Member, inspect?: ActorInspector): LoneMember {
  const actor = createActor(logic, { input, ...(inspect && { inspect }) });
  const ended = toPromise(actor).then((output: { readonly fault: unknown } | undefined) => {
    if (output !== undefined && output.fault !== null) throw output.fault;
  });
  ended.catch(() => undefined); // The caller that awaits `ended` gets the error.
  actor.start();
  return {
    ended,
    stop: async ({ graceMs }) => {
      if (actor.getSnapshot().status === 'active') actor.send({ type: 'stopped', graceMs });
      await ended.catch(() => undefined);
    },
  };
}
