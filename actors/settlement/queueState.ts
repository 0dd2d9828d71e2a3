import type { SettlementSnapshot } from '../../machines/settlementMachine.ts';
import { findFirstMatch, otherwise, type Row } from '../firstMatch.ts';

export const blockedReasons = ['incident_open', 'oracle_blocked', 'settlement_paused'] as const;
export type BlockedReason = (typeof blockedReasons)[number];

export const settlementQueueStates = [
  'disabled',
  'empty',
  'ready',
  'preparing',
  'submitted',
  'retrying',
  'blocked',
  'stale',
] as const;
export type SettlementQueueState = (typeof settlementQueueStates)[number];

/** A reporter whose last completed run is older than this is stale. */
export const reporterStaleMs = 600_000;

export interface QueueInput {
  readonly snapshot: SettlementSnapshot;
  readonly isPaused: boolean;
  readonly bufferedRoundCount: number;
  readonly nowMs: number;
}

const blockedTable: readonly Row<QueueInput, BlockedReason | null>[] = [
  ['incident_open', ({ snapshot }) => snapshot.matches({ incidents: 'someOpen' })],
  ['oracle_blocked', ({ snapshot }) => snapshot.matches({ oracle: 'blocked' })],
  ['settlement_paused', ({ isPaused }) => isPaused],
  [null, otherwise],
];

/** In the order of the contract's table of queue states. */
const stateTable: readonly Row<QueueInput, SettlementQueueState>[] = [
  ['blocked', (input) => findBlockedReason(input) !== null],
  ['disabled', ({ snapshot }) => !snapshot.context.settlementEnabled],
  ['stale', isReporterStale],
  ['preparing', ({ snapshot }) => snapshot.hasTag('preparing')],
  ['submitted', ({ snapshot }) => snapshot.hasTag('submitted')],
  ['retrying', ({ snapshot }) => snapshot.hasTag('retrying')],
  ['empty', ({ bufferedRoundCount }) => bufferedRoundCount === 0],
  ['ready', otherwise],
];

/** Whether no run was completed, the last completion is too old, or a newer run is unfinished. */
function isReporterStale({ snapshot, nowMs }: QueueInput): boolean {
  const { lastRun } = snapshot.context;
  if (lastRun === null || snapshot.matches({ run: 'running' })) return true;
  return nowMs - lastRun.finishedAtMs > reporterStaleMs;
}

export function findBlockedReason(input: QueueInput): BlockedReason | null {
  return findFirstMatch(blockedTable, input);
}

export function findQueueState(input: QueueInput): SettlementQueueState {
  return findFirstMatch(stateTable, input);
}
