import type { ChainAvailability } from './chainAvailability.ts';

export const settlementSources = ['live', 'durable-cache', 'unavailable'] as const;
type SettlementSource = (typeof settlementSources)[number];

interface SourceInput {
  readonly availability: ChainAvailability;
  /** Whether a state exists that passes every check. */
  readonly hasLastGood: boolean;
}

/** Reasons that leave the last good state usable: it still belongs to this chain. */
const stillUsable: readonly ChainAvailability[] = [
  'indexer_unavailable',
  'projection_rebuilding',
  'projection_failed',
];

/** Source of the settlement history. While the chain is unavailable for a temporary reason, it is the last good state. */
export function findSettlementSource({ availability, hasLastGood }: SourceInput): SettlementSource {
  if (availability === 'available') return 'live';
  return hasLastGood && stillUsable.includes(availability) ? 'durable-cache' : 'unavailable';
}
