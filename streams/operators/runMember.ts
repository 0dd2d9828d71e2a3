import { createActor, fromCallback, toPromise } from 'xstate';
import type { Member, Members } from '../../machines/serviceMachine.ts';
import { type ActorOwner, noOwner, withOwner } from './actorOwner.ts';
import type { ActorInspector } from './actorTransitions.ts';

interface RunOptions {
  readonly id?: string;
  /** Owner of its machine; `noOwner` by default. */
  readonly owner?: ActorOwner;
  readonly inspect?: ActorInspector;
}

/** Runs a machine until it ends. */
export function runMember({ logic, input }: Member, { owner = noOwner, ...options }: RunOptions = {}) {
  const actor = createActor(logic, { ...owner.options, ...options, input });
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
    /** Ends it at once. */
    cancel: () => owner.end(actor),
  };
}

/** Runs the members of a service, as descendants of its root, until all of them have ended or the service cancels them. */
export const runMembers = withOwner((owner) =>
  fromCallback<{ type: 'stop' }, Members>(({ input: members, sendBack, receive }) => {
    const running = [...members].map(([id, { graceMs, ...member }]) => ({
      ...runMember(member, { id, owner }),
      graceMs,
    }));
    receive(({ type }) => {
      // XState also reports the end of each member here.
      if (type === 'stop') for (const member of running) void member.stop(member);
    });
    for (const { ended } of running) ended.catch((error) => sendBack({ type: 'faulted', error }));
    void Promise.allSettled(running.map(({ ended }) => ended)).then(() => sendBack({ type: 'membersEnded' }));
    return () => {
      for (const { cancel } of running) cancel();
    };
  }),
);
