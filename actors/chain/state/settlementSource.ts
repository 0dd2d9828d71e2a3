import { findFirstMatch, otherwise, type Row } from '../../firstMatch.ts';
import type { ChainAvailability } from './chainAvailability.ts';

export const settlementSources = ['live', 'durable-cache', 'unavailable'] as const;
export type SettlementSource = (typeof settlementSources)[number];

interface SourceInput {
  readonly availability: ChainAvailability;
  /** There is a state that could be shown before. */
  readonly hasLastGood: boolean;
}

/** While the chain is unavailable for one of these reasons, the last good state is still one of this chain. */
const passing: readonly ChainAvailability[] = [
  'indexer_unavailable',
  'projection_rebuilding',
  'projection_failed',
];

const table: readonly Row<SourceInput, SettlementSource>[] = [
  ['live', ({ availability }) => availability === 'available'],
  ['durable-cache', ({ availability, hasLastGood }) => hasLastGood && passing.includes(availability)],
  ['unavailable', otherwise],
];

/** Where settlement history comes from: while the indexer is unavailable or behind, the last good state serves. */
export function findSettlementSource(input: SourceInput): SettlementSource {
  return findFirstMatch(table, input);
}
