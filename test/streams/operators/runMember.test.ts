import { expect, it } from 'vitest';
import { assign, createMachine } from 'xstate';
import { runMember } from '../../../streams/operators/runMember.ts';

const logic = createMachine({
  types: {} as { context: { fault: string | null }; events: { type: 'stopped'; graceMs: number } },
  context: { fault: null },
  output: ({ context }) => context,
  initial: 'running',
  states: {
    running: { on: { stopped: 'ended' } },
    ended: {
      type: 'final',
      entry: assign({ fault: ({ event }) => (event.graceMs === 0 ? 'no time' : null) }),
    },
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
