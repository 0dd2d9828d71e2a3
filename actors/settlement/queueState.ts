import type { SettlementSnapshot } from '../../machines/settlementMachine.ts';

export const blockedReasons = ['incident_open', 'oracle_blocked', 'settlement_paused'] as const;
type BlockedReason = (typeof blockedReasons)[number];

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
type SettlementQueueState = (typeof settlementQueueStates)[number];

/** A reporter whose last completed run is older than this is stale. */
export const reporterStaleMs = 600_000;

export interface QueueInput {
  readonly snapshot: SettlementSnapshot;
  readonly isPaused: boolean;
  readonly bufferedRoundCount: number;
  readonly nowMs: number;
}

/** The first reason that applies; null if the queue is not blocked. */
export function findBlockedReason({ snapshot, isPaused }: QueueInput): BlockedReason | null {
  if (snapshot.matches({ incidents: 'someOpen' })) return 'incident_open';
  if (snapshot.matches({ oracle: 'blocked' })) return 'oracle_blocked';
  return isPaused ? 'settlement_paused' : null;
}

/** The first state that applies, in the order of the contract's table of queue states. */
export function findQueueState(input: QueueInput): SettlementQueueState {
  const { snapshot, bufferedRoundCount } = input;
  if (findBlockedReason(input) !== null) return 'blocked';
  if (!snapshot.context.settlementEnabled) return 'disabled';
  if (isReporterStale(input)) return 'stale';
  if (snapshot.hasTag('preparing')) return 'preparing';
  if (snapshot.hasTag('submitted')) return 'submitted';
  if (snapshot.hasTag('retrying')) return 'retrying';
  return bufferedRoundCount === 0 ? 'empty' : 'ready';
}

/** Whether no run was completed, the last completion is too old, or a newer run is unfinished. */
function isReporterStale({ snapshot, nowMs }: QueueInput): boolean {
  const { lastRun } = snapshot.context;
  if (lastRun === null || snapshot.matches({ run: 'running' })) return true;
  return nowMs - lastRun.finishedAtMs > reporterStaleMs;
}
