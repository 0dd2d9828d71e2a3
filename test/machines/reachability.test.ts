import { describe, expect, it } from 'vitest';
import type { AnyStateMachine, EventFromLogic } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import { chainAvailabilityMachine } from '../../machines/chainAvailabilityMachine.ts';
import { collectionPhaseMachine } from '../../machines/collectionPhaseMachine.ts';
import { freshnessMachine } from '../../machines/freshnessMachine.ts';
import { indexerMachine } from '../../machines/indexerMachine.ts';
import { mergeStateMachine } from '../../machines/mergeStateMachine.ts';
import { mintRoundMachine } from '../../machines/mintRoundMachine.ts';
import { moduleMachine } from '../../machines/moduleMachine.ts';
import { oracleMachine } from '../../machines/oracleMachine.ts';
import { settlementQueueMachine } from '../../machines/settlementQueueMachine.ts';
import { settlementSourceMachine } from '../../machines/settlementSourceMachine.ts';
import { submissionMachine } from '../../machines/submissionMachine.ts';

/** Machines that invoke work are tested with those who provide it. */
const machines: [AnyStateMachine, EventFromLogic<AnyStateMachine>[]][] = [
  [freshnessMachine, [0, 120_000, 120_001].map((receiptAgeMs) => ({ type: 'observed', receiptAgeMs }))],
  [moduleMachine, moduleMachine.events.map((type) => ({ type }))],
  [submissionMachine, submissionMachine.events.map((type) => ({ type }))],
  [oracleMachine, oracleObservations()],
  [settlementQueueMachine, queueObservations()],
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

function oracleObservations(): EventFromLogic<AnyStateMachine>[] {
  return [0, 1_200_000, 1_200_001].flatMap((acceptanceAgeMs) =>
    [
      { hasClosure: false, isBlocked: true },
      { hasClosure: true, isBlocked: true },
      { hasClosure: true, isBlocked: false },
    ].map((said) => ({ type: 'observed', oracle: { ...said, acceptanceAgeMs } })),
  );
}

function queueObservations(): EventFromLogic<AnyStateMachine>[] {
  const flags = [true, false];
  return flags.flatMap((isBlocked) =>
    flags.flatMap((isEnabled) =>
      flags.flatMap((isReporterStale) =>
        ([null, 'preparing', 'submitted', 'retrying'] as const).flatMap((activeSubmission) =>
          flags.map((hasBufferedRounds) => ({
            type: 'observed',
            queue: { isBlocked, isEnabled, isReporterStale, activeSubmission, hasBufferedRounds },
          })),
        ),
      ),
    ),
  );
}

function serializeEvent(event: object): string {
  return JSON.stringify(event, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
}

describe('every machine', () => {
  it.each(machines.map(([machine, events]) => [machine.id, machine, events] as const))(
    '%s reaches each of its states, and leaves none that is final',
    (_id, machine, events) => {
      const paths = getShortestPaths(machine, { events, serializeEvent });
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
