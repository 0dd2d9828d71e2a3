import type { SettlementSnapshot } from '../../machines/settlementMachine.ts';

export const oracleStates = ['accepted', 'stale', 'blocked', 'unavailable'] as const;
export type OracleState = (typeof oracleStates)[number];

/** A latest acceptance older than this is stale. */
export const oracleStaleSeconds = 1200;

export function findOracleState(snapshot: SettlementSnapshot, nowMs: number): OracleState {
  const { closure } = snapshot.context;
  if (closure === null) return 'unavailable';
  if (snapshot.matches({ oracle: 'blocked' })) return 'blocked';
  return nowMs - closure.acceptedAtMs > oracleStaleSeconds * 1000 ? 'stale' : 'accepted';
}
