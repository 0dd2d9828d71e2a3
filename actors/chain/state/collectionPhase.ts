import type { CollectionState } from './collectionState.ts';

export const collectionPhases = ['unconfigured', 'pending', 'allowlist', 'public', 'closed'] as const;
type CollectionPhase = (typeof collectionPhases)[number];

type SaleState = Pick<CollectionState, 'sale' | 'isClosed' | 'publicMinted'>;

/** Phase of a collection's sale at a time (epoch milliseconds), by the rules of the contract. Timed phases begin without an event. */
export function findPhase({ sale, isClosed, publicMinted }: SaleState, timestampMs: number): CollectionPhase {
  if (isClosed) return 'closed';
  if (sale === null) return 'unconfigured';
  if (publicMinted >= sale.publicAllocation) return 'closed';
  const timestampSeconds = Math.floor(timestampMs / 1000);
  if (timestampSeconds < sale.allowlistStart) return 'pending';
  return timestampSeconds < sale.allowlistEnd ? 'allowlist' : 'public';
}
