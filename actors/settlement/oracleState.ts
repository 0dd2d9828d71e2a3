import type { SettlementSnapshot } from '../../machines/settlementMachine.ts';
import { findFirstMatch, otherwise, type Row } from '../firstMatch.ts';

export const oracleStates = ['accepted', 'stale', 'blocked', 'unavailable'] as const;
export type OracleState = (typeof oracleStates)[number];

/** A latest acceptance older than this is stale. */
export const oracleStaleSeconds = 1200;

interface OracleInput {
  readonly snapshot: SettlementSnapshot;
  readonly nowMs: number;
}

const table: readonly Row<OracleInput, OracleState>[] = [
  ['unavailable', ({ snapshot }) => snapshot.context.closure === null],
  ['blocked', ({ snapshot }) => snapshot.matches({ oracle: 'blocked' })],
  ['stale', isAcceptanceOld],
  ['accepted', otherwise],
];

function isAcceptanceOld({ snapshot, nowMs }: OracleInput): boolean {
  const { closure } = snapshot.context;
  return closure !== null && nowMs - closure.acceptedAtMs > oracleStaleSeconds * 1000;
}

export function findOracleState(snapshot: SettlementSnapshot, nowMs: number): OracleState {
  return findFirstMatch(table, { snapshot, nowMs });
}
