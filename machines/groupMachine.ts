import { type AnyStateMachine, assign, setup } from 'xstate';

/** A machine that ends by itself, or within the time that the event `stopped` gives it. */
export interface Member {
  readonly logic: AnyStateMachine;
  readonly input: unknown;
}

export interface GroupMember extends Member {
  /** Time that it has to end. */
  readonly graceMs: number;
}

/** Members by name, which is also the ID of the actor. */
export type Members = ReadonlyMap<string, GroupMember>;

interface Context {
  readonly members: Members;
  readonly running: number;
  readonly fault: { readonly error: unknown } | null;
}

/**
 * Runs machines, which are known only at the start, as its children until all of them have ended. If a member fails, the group has the tag
 * `faulted`, and the other members continue until the group is stopped, so that they can store their state. Leaving the state that invoked
 * the group cancels its members.
 */
export const groupMachine = setup({
  types: {} as {
    context: Context;
    input: { readonly members: Members };
    events:
      | { type: 'stopped' }
      | { type: `xstate.done.actor.${string}`; output: { readonly fault: unknown } | undefined }
      | { type: `xstate.error.actor.${string}`; error: unknown };
    tags: 'faulted';
  },
  actors: {} as Record<string, AnyStateMachine>,
  guards: {
    isEmpty: ({ context }) => context.running === 0,
    hasFault: ({ context }) => context.fault !== null,
  },
  actions: {
    noteEnd: assign(({ context }, { error }: { error: unknown }) => ({
      running: context.running - 1,
      fault: context.fault ?? (error === null ? null : { error }),
    })),
    stopMembers: ({ context, self }) => {
      const { children } = self.getSnapshot();
      for (const [name, { graceMs }] of context.members) {
        const child = children[name];
        if (child?.getSnapshot().status === 'active') child.send({ type: 'stopped', graceMs });
      }
    },
  },
}).createMachine({
  id: 'group',
  context: ({ input: { members }, spawn }) => {
    for (const [name, { logic, input }] of members) spawn(logic, { id: name, input });
    return { members, running: members.size, fault: null };
  },
  on: {
    'xstate.done.actor.*': {
      actions: { type: 'noteEnd', params: ({ event }) => ({ error: event.output?.fault ?? null }) },
    },
    'xstate.error.actor.*': {
      actions: { type: 'noteEnd', params: ({ event: { error } }) => ({ error }) },
    },
  },
  initial: 'running',
  states: {
    running: {
      always: [
        { guard: 'hasFault', target: 'faulted' },
        { guard: 'isEmpty', target: 'ended' },
      ],
      on: { stopped: 'stopping' },
    },
    faulted: { tags: 'faulted', on: { stopped: 'stopping' } },
    stopping: { entry: 'stopMembers', always: { guard: 'isEmpty', target: 'ended' } },
    ended: { type: 'final' },
  },
});
