import { findFirstMatch, otherwise, type Row } from '../../firstMatch.ts';
import type { CollectionState } from './miningState.ts';

export const collectionPhases = ['unconfigured', 'pending', 'allowlist', 'public', 'closed'] as const;
export type CollectionPhase = (typeof collectionPhases)[number];

type SaleState = Pick<CollectionState, 'sale' | 'isClosed' | 'publicMinted'>;

/** Facts that decide the phase, at the time of the safe block. */
interface PhaseInput extends SaleState {
  readonly timestampSeconds: number;
}

const table: readonly Row<PhaseInput, CollectionPhase>[] = [
  ['closed', ({ isClosed }) => isClosed],
  ['unconfigured', ({ sale }) => sale === null],
  ['closed', ({ sale, publicMinted }) => sale !== null && publicMinted >= sale.publicAllocation],
  ['pending', ({ sale, timestampSeconds }) => sale !== null && timestampSeconds < sale.allowlistStart],
  ['allowlist', ({ sale, timestampSeconds }) => sale !== null && timestampSeconds < sale.allowlistEnd],
  ['public', otherwise],
];

/** Phase of a collection's sale at a time (epoch milliseconds), by the rules of the contract. Timed phases begin without an event. */
export function findPhase({ sale, isClosed, publicMinted }: SaleState, timestampMs: number): CollectionPhase {
  const timestampSeconds = Math.floor(timestampMs / 1000);
  return findFirstMatch(table, { sale, isClosed, publicMinted, timestampSeconds });
}
