import { describe, expect, it, onTestFinished } from 'vitest';
import { type AnyActorRef, assign, createActor, setup } from 'xstate';
import type { GroupEvent, Members } from '../../../machines/serviceMachine.ts';
import { runMember, runMembers } from '../../../streams/operators/runMember.ts';

const logic = setup({
  types: {} as {
    context: { fault: string | null };
    events: { type: 'stopped'; graceMs: number } | { type: 'break' };
  },
}).createMachine({
  id: 'member',
  context: { fault: null },
  output: ({ context }) => context,
  initial: 'running',
  states: {
    running: {
      on: {
        break: {
          actions: () => {
            throw new Error('broken');
          },
        },
        stopped: {
          target: 'ended',
          actions: assign({ fault: ({ event }) => (event.graceMs === 0 ? 'no time' : null) }),
        },
      },
    },
    ended: { type: 'final' },
  },
});

it('a member is inspected and stopped once', async () => {
  const events: unknown[] = [];
  const stopped = runMember(
    { logic, input: undefined },
    {
      inspect: (event) => {
        if (event.type === '@xstate.event') events.push(event.event);
      },
    },
  );
  await stopped.stop({ graceMs: 5 });
  await stopped.stop({ graceMs: 6 });
  expect(events.slice(1)).toEqual([{ type: 'stopped', graceMs: 5 }]);
  expect(await stopped.ended).toBeUndefined();
  const faulted = runMember({ logic, input: undefined });
  await faulted.stop({ graceMs: 0 });
  await expect(faulted.ended).rejects.toBe('no time');
});

/** Members, by name with their grace; a grace of 0 is too short for them. */
function runGroup(graces: Readonly<Record<string, number>>) {
  const members: Members = new Map(
    Object.entries(graces).map(([name, graceMs]) => [name, { logic, input: undefined, graceMs }]),
  );
  const events: GroupEvent[] = [];
  const ids = new Map<string, AnyActorRef>();
  const parent = setup({ types: { events: {} as GroupEvent }, actors: { runMembers } }).createMachine({
    invoke: { id: 'group', src: 'runMembers', input: members },
    on: { '*': { actions: ({ event }) => events.push(event) } },
  });
  const root = createActor(parent, {
    inspect: (event) => {
      if (event.type === '@xstate.actor') {
        // Every actor of these machines.
        const actor = event.actorRef as AnyActorRef;
        ids.set(actor.id, actor);
      }
    },
  }).start();
  onTestFinished(() => void root.stop());
  return { root, events, ids };
}
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('members that run together', () => {
  it('are stopped together, and have ended once the last one has', async () => {
    const { root, events, ids } = runGroup({ one: 5, other: 5 });
    await nextTurn();
    expect([[...ids.keys()].slice(2), events]).toEqual([['one', 'other'], []]);
    root.getSnapshot().children.group?.send({ type: 'stop' });
    await nextTurn();
    expect(events).toEqual([{ type: 'membersEnded' }]);
  });

  it('continue after the fault of one, until they are stopped', async () => {
    const { root, events, ids } = runGroup({ one: 5, other: 5 });
    ids.get('one')?.send({ type: 'break' });
    await nextTurn();
    expect(events).toEqual([{ type: 'faulted', error: new Error('broken') }]);
    expect(ids.get('other')?.getSnapshot().status).toBe('active');
    root.getSnapshot().children.group?.send({ type: 'stop' });
    await nextTurn();
    expect(events.slice(1)).toEqual([{ type: 'membersEnded' }]);
  });

  it('report the fault with which a member ends', async () => {
    const { root, events } = runGroup({ one: 5, other: 0 });
    root.getSnapshot().children.group?.send({ type: 'stop' });
    await nextTurn();
    expect(events).toEqual([{ type: 'faulted', error: 'no time' }, { type: 'membersEnded' }]);
  });

  it('end at once if the service cancels them', async () => {
    const { root, events, ids } = runGroup({ one: 5 });
    root.stop();
    await nextTurn();
    expect([ids.get('one')?.getSnapshot().status, events]).toEqual(['stopped', []]);
  });
});
