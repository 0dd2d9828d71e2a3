import { createActor, toPromise } from 'xstate';
import type { Member } from '../../machines/groupMachine.ts';
import type { ActorInspector } from './actorTransitions.ts';

export type LoneMember = ReturnType<typeof runAlone>;

/** Runs a machine for a command that does nothing else. */
export function runAlone({ logic, input }: Member, inspect?: ActorInspector) {
  const actor = createActor(logic, { input, ...(inspect && { inspect }) });
  const ended = toPromise(actor).then((output: { readonly fault: unknown } | undefined) => {
    if (output !== undefined && output.fault !== null) throw output.fault;
  });
  ended.catch(() => undefined); // The caller that awaits `ended` gets the error.
  actor.start();
  return {
    /** Rejects only for a fault of this program. */
    ended,
    /** Asks it to end within `graceMs`, and resolves once it has ended. */
    stop: async ({ graceMs }: { graceMs: number }) => {
      if (actor.getSnapshot().status === 'active') actor.send({ type: 'stopped', graceMs });
      await ended.catch(() => undefined);
    },
  };
}
