import { describe, expect, it } from 'vitest';
import type { AnyStateMachine, EventFromLogic } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import { freshnessMachine } from '../../machines/freshnessMachine.ts';
import { messageSourceMachine } from '../../machines/messageSourceMachine.ts';
import { moduleMachine } from '../../machines/moduleMachine.ts';
import { rowWriterMachine } from '../../machines/rowWriterMachine.ts';
import { streamFollowerMachine } from '../../machines/streamFollowerMachine.ts';

const machines: [AnyStateMachine, EventFromLogic<AnyStateMachine>[]][] = [
  [freshnessMachine, [0, 120_000, 120_001].map((receiptAgeMs) => ({ type: 'observed', receiptAgeMs }))],
  [moduleMachine, moduleMachine.events.map((type) => ({ type }))],
  [messageSourceMachine, messageSourceMachine.events.map((type) => ({ type }))],
  [rowWriterMachine, rowWriterMachine.events.map((type) => ({ type }))],
  [streamFollowerMachine, streamFollowerMachine.events.map((type) => ({ type }))],
];

describe('every machine', () => {
  it.each(machines.map(([machine, events]) => [machine.id, machine, events] as const))(
    '%s reaches each of its states, and leaves none that is final',
    (_id, machine, events) => {
      const paths = getShortestPaths(machine, { events });
      const reached = new Set(paths.map(({ state }) => String(state.value)));
      expect([...reached].sort()).toEqual(Object.keys(machine.states).sort());
      for (const { state } of paths) {
        if (state.status !== 'done') continue;
        const final = machine.states[String(state.value)];
        expect(final?.type).toBe('final');
        expect(final?.transitions.size ?? 0).toBe(0);
      }
    },
  );
});
