import { findFirstMatch, otherwise, type Row } from '../../firstMatch.ts';
import type { CollectionState } from './miningState.ts';

export const collectionPhases = ['unconfigured', 'pending', 'allowlist', 'public', 'closed'] as const;
export type CollectionPhase = (typeof collectionPhases)[number];

/** What decides the phase, at the time of the safe block. */
export interface SaleInput {
  readonly timestampSeconds: bigint;
  readonly isConfigured: boolean;
  readonly isClosed: boolean;
  readonly isSoldOut: boolean;
  readonly allowlistStart: bigint;
  readonly allowlistEnd: bigint;
}

const table: readonly Row<SaleInput, CollectionPhase>[] = [
  ['closed', ({ isClosed }) => isClosed],
  ['unconfigured', ({ isConfigured }) => !isConfigured],
  ['closed', ({ isSoldOut }) => isSoldOut],
  ['pending', ({ timestampSeconds, allowlistStart }) => timestampSeconds < allowlistStart],
  ['allowlist', ({ timestampSeconds, allowlistEnd }) => timestampSeconds < allowlistEnd],
  ['public', otherwise],
];

/** Phase of the collection's sale. A timed change takes effect by the clock, without an event of the collection. */
export function findCollectionPhase(sale: SaleInput): CollectionPhase {
  return findFirstMatch(table, sale);
}

/** The phase of a collection at a time; the same as the contract's own. */
export function findPhase(
  { sale, isClosed, publicMinted }: CollectionState,
  timestampMs: number,
): CollectionPhase {
  return findCollectionPhase({
    timestampSeconds: BigInt(Math.floor(timestampMs / 1000)),
    isConfigured: sale !== null,
    isClosed,
    isSoldOut: sale !== null && publicMinted >= sale.publicAllocation,
    allowlistStart: sale?.allowlistStart ?? 0n,
    allowlistEnd: sale?.allowlistEnd ?? 0n,
  });
}
