import { describe, expect, it } from 'vitest';
import type { AnyStateMachine, AnyStateNode, EventFromLogic, StateValue } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import { moduleMachine } from '../../machines/moduleMachine.ts';
import { settlementMachine } from '../../machines/settlementMachine.ts';

/** Machines that invoke no work. The others are tested together with the code that does their work. */
const machines: [AnyStateMachine, EventFromLogic<AnyStateMachine>[]][] = [
  [moduleMachine, moduleMachine.events.map((type) => ({ type, observedAtMs: 0 }))],
  [settlementMachine, settlementEvents()],
];

/** The events that change a state. Closures, epochs and settings only change the context. */
function settlementEvents(): EventFromLogic<AnyStateMachine>[] {
  const atMs = 0;
  const move = { submissionId: 's', atMs };
  return [
    { type: 'blocked', reason: 'r' },
    { type: 'unblocked' },
    { type: 'run_started', runId: 'a', atMs, hasEnded: false },
    { type: 'run_finished', runId: 'a', atMs, result: 'ok' },
    { type: 'incident_opened', incidentId: 'i', hasEnded: false },
    { type: 'incident_closed', incidentId: 'i' },
    { type: 'submission_prepared', ...move, hasEnded: false },
    { type: 'submission_submitted', ...move, transactionHash: 'h' },
    { type: 'submission_retrying', ...move, transactionHash: null },
    { type: 'submission_confirmed', ...move },
    { type: 'submission_reverted', ...move },
    { type: 'submission_superseded', ...move },
  ];
}

function serialize(value: object): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? `${member}n` : member,
  );
}

/** Paths of the states in a state value. */
function listPaths(value: StateValue, parent = ''): string[] {
  if (typeof value === 'string') return [`${parent}${value}`];
  return Object.entries(value).flatMap(([key, inner = {}]) => listPaths(inner, `${parent}${key}.`));
}

/** Paths of the states without children. */
function listLeaves({ states }: AnyStateNode, parent = ''): string[] {
  return Object.entries(states).flatMap(([key, state]) =>
    Object.keys(state.states).length === 0 ? [`${parent}${key}`] : listLeaves(state, `${parent}${key}.`),
  );
}

describe('a machine without work of its own', () => {
  it.each(machines.map(([machine, events]) => [machine.id, machine, events] as const))(
    '%s can reach each of its states, and cannot leave a final one',
    (_id, machine, events) => {
      const paths = getShortestPaths(machine, {
        events,
        serializeEvent: serialize,
        serializeState: ({ value, context }) => serialize({ value, context }),
      });
      const reached = new Set(paths.flatMap(({ state }) => listPaths(state.value)));
      expect([...reached].sort()).toEqual(listLeaves(machine.root).sort());
      for (const { state } of paths) {
        if (state.status !== 'done') continue;
        const final = machine.states[String(state.value)];
        expect(final?.type).toBe('final');
        expect(final?.transitions.size ?? 0).toBe(0);
      }
    },
  );
});
