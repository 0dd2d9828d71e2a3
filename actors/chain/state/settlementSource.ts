import type { ChainAvailability } from './chainAvailability.ts';

export const settlementSources = ['live', 'durable-cache', 'unavailable'] as const;
export type SettlementSource = (typeof settlementSources)[number];

interface SourceInput {
  readonly availability: ChainAvailability;
  /** Whether a state exists that passes every check. */
  readonly hasLastGood: boolean;
}

/** Reasons under which the last good state still belongs to this chain. */
const passing: readonly ChainAvailability[] = [
  'indexer_unavailable',
  'projection_rebuilding',
  'projection_failed',
];

/** Source of the settlement history. While the indexer is unavailable or behind, the last good state serves. */
export function findSettlementSource({ availability, hasLastGood }: SourceInput): SettlementSource {
  if (availability === 'available') return 'live';
  return hasLastGood && passing.includes(availability) ? 'durable-cache' : 'unavailable';
}
