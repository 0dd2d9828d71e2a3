import { describe, expect, it } from 'vitest';
import type { AnyStateMachine, AnyStateNode, EventFromLogic, StateValue } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import { chainAvailabilityMachine } from '../../machines/chainAvailabilityMachine.ts';
import { collectionPhaseMachine } from '../../machines/collectionPhaseMachine.ts';
import { freshnessMachine } from '../../machines/freshnessMachine.ts';
import { indexerMachine } from '../../machines/indexerMachine.ts';
import { mergeStateMachine } from '../../machines/mergeStateMachine.ts';
import { messageSourceMachine } from '../../machines/messageSourceMachine.ts';
import { mintRoundMachine } from '../../machines/mintRoundMachine.ts';
import { moduleMachine } from '../../machines/moduleMachine.ts';
import { rowWriterMachine } from '../../machines/rowWriterMachine.ts';
import { settlementMachine } from '../../machines/settlementMachine.ts';
import { settlementSourceMachine } from '../../machines/settlementSourceMachine.ts';
import { streamFollowerMachine } from '../../machines/streamFollowerMachine.ts';

const machines: [AnyStateMachine, EventFromLogic<AnyStateMachine>[]][] = [
  [freshnessMachine, [0, 120_000, 120_001].map((receiptAgeMs) => ({ type: 'observed', receiptAgeMs }))],
  [moduleMachine, moduleMachine.events.map((type) => ({ type, observedAtMs: 0 }))],
  [messageSourceMachine, messageSourceMachine.events.map((type) => ({ type }))],
  [rowWriterMachine, rowWriterMachine.events.map((type) => ({ type }))],
  [streamFollowerMachine, streamFollowerMachine.events.map((type) => ({ type }))],
  [settlementMachine, settlementEvents()],
  [indexerMachine, indexerMachine.events.map((type) => ({ type }))],
  [chainAvailabilityMachine, chainObservations()],
  [
    settlementSourceMachine,
    (['available', 'indexer_unavailable', 'projection_rebuilding', 'indexer_mismatch'] as const).flatMap(
      (availability) => [true, false].map((hasLastGood) => ({ type: 'observed', availability, hasLastGood })),
    ),
  ],
  [
    mintRoundMachine,
    [4n, 5n, 6n].map((settledThroughRound) => ({ type: 'observed', round: 5n, settledThroughRound })),
  ],
  [
    collectionPhaseMachine,
    [0n, 10n, 20n].flatMap((timestampSeconds) =>
      [
        { isConfigured: false, isClosed: false, isSoldOut: false },
        { isConfigured: true, isClosed: false, isSoldOut: false },
        { isConfigured: true, isClosed: false, isSoldOut: true },
        { isConfigured: true, isClosed: true, isSoldOut: false },
      ].map((sale) => ({
        type: 'observed',
        sale: { ...sale, timestampSeconds, allowlistStart: 10n, allowlistEnd: 20n },
      })),
    ),
  ],
  [
    mergeStateMachine,
    [
      { level: 5, hasPendingWeight: false, nextMergeBlock: 0n },
      { level: 1, hasPendingWeight: true, nextMergeBlock: 0n },
      { level: 1, hasPendingWeight: false, nextMergeBlock: 9n },
      { level: 1, hasPendingWeight: false, nextMergeBlock: 8n },
    ].map((position) => ({ type: 'observed', position: { ...position, maximumLevel: 5, blockHeight: 8n } })),
  ],
];

/** All true, and each of them false in turn with everything after it: the first that fails decides. */
function chainObservations(): EventFromLogic<AnyStateMachine>[] {
  const chain = {
    isConfigured: true,
    isMismatched: false,
    isCaughtUp: true,
    isApplied: true,
    isIndexed: true,
    isSafe: true,
    isSupported: true,
  };
  const faults = [
    { isConfigured: false },
    { isMismatched: true },
    { isCaughtUp: false },
    { isApplied: false },
    { isIndexed: false },
    { isSafe: false },
    { isSupported: false },
  ];
  return [{}, ...faults].map((fault) => ({ type: 'observed', chain: { ...chain, ...fault } }));
}

/** What moves the regions; closures, epochs and settings have no states. */
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

/** Paths of the states that a state value is made of. */
function pathsOf(value: StateValue, parent = ''): string[] {
  if (typeof value === 'string') return [`${parent}${value}`];
  return Object.entries(value).flatMap(([key, inner = {}]) => pathsOf(inner, `${parent}${key}.`));
}

/** Paths of the states that hold no others. */
function leavesOf({ states }: AnyStateNode, parent = ''): string[] {
  return Object.entries(states).flatMap(([key, state]) =>
    Object.keys(state.states).length === 0 ? [`${parent}${key}`] : leavesOf(state, `${parent}${key}.`),
  );
}

describe('every machine', () => {
  it.each(machines.map(([machine, events]) => [machine.id, machine, events] as const))(
    '%s reaches each of its states, and leaves none that is final',
    (_id, machine, events) => {
      const paths = getShortestPaths(machine, {
        events,
        serializeEvent: serialize,
        serializeState: ({ value, context }) => serialize({ value, context }),
      });
      const reached = new Set(paths.flatMap(({ state }) => pathsOf(state.value)));
      expect([...reached].sort()).toEqual(leavesOf(machine.root).sort());
      for (const { state } of paths) {
        if (state.status !== 'done') continue;
        const final = machine.states[String(state.value)];
        expect(final?.type).toBe('final');
        expect(final?.transitions.size ?? 0).toBe(0);
      }
    },
  );
});
