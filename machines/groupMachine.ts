import { type AnyStateMachine, assign, setup } from 'xstate';

/** A machine of the group. It ends within its grace period after `stopped`. */
export interface Member {
  readonly logic: AnyStateMachine;
  readonly input: unknown;
}

/** Members by name, which is also the ID of the actor. */
export type Members = ReadonlyMap<string, Member>;

interface Context {
  readonly names: readonly string[];
  readonly running: number;
  readonly fault: { readonly error: unknown } | null;
}

/** Output of a member that ended with a fault. */
interface MemberOutput {
  readonly fault: unknown;
}

const stop = {
  target: 'stopping',
  actions: {
    type: 'stopMembers',
    params: ({ event }: { readonly event: { readonly graceMs: number } }) => ({ graceMs: event.graceMs }),
  },
} as const;

/**
 * Runs machines as its children until all of them have ended. If a member fails, the group has the tag `faulted`, and the other members
 * continue until the group is stopped, so that they can store their state. Leaving the state that invoked the group cancels its members.
 */
export function createGroupMachine<Id extends string>(id: Id) {
  return setup({
    types: {} as {
      context: Context;
      input: { readonly members: Members };
      events:
        | { type: 'stopped'; graceMs: number }
        | { type: `xstate.done.actor.${string}`; output: MemberOutput | undefined }
        | { type: `xstate.error.actor.${string}`; error: unknown };
      tags: 'faulted';
    },
    // The names of the actors are known only at the start.
    actors: {} as Record<string, AnyStateMachine>,
    guards: {
      isEmpty: ({ context }) => context.running === 0,
      hasFault: ({ context }) => context.fault !== null,
    },
    actions: {
      noteEnd: assign(({ context }, { fault }: { fault: Context['fault'] }) => ({
        running: context.running - 1,
        fault: context.fault ?? fault,
      })),
      stopMembers: ({ context, self }, { graceMs }: { graceMs: number }) => {
        const { children } = self.getSnapshot();
        for (const name of context.names) {
          const child = children[name];
          if (child?.getSnapshot().status === 'active') child.send({ type: 'stopped', graceMs });
        }
      },
    },
  }).createMachine({
    id,
    context: ({ input: { members }, spawn }) => {
      for (const [name, { logic, input }] of members) spawn(logic, { id: name, input });
      return { names: [...members.keys()], running: members.size, fault: null };
    },
    on: {
      'xstate.done.actor.*': {
        actions: {
          type: 'noteEnd',
          params: ({ event }) => {
            const error = event.output?.fault ?? null;
            return { fault: error === null ? null : { error } };
          },
        },
      },
      'xstate.error.actor.*': {
        actions: { type: 'noteEnd', params: ({ event: { error } }) => ({ fault: { error } }) },
      },
    },
    initial: 'running',
    states: {
      running: {
        always: [
          { guard: 'hasFault', target: 'faulted' },
          { guard: 'isEmpty', target: 'ended' },
        ],
        on: { stopped: stop },
      },
      faulted: { tags: 'faulted', on: { stopped: stop } },
      stopping: { always: { guard: 'isEmpty', target: 'ended' } },
      ended: { type: 'final' },
    },
  });
}
