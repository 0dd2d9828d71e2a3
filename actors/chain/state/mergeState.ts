import { findFirstMatch, otherwise, type Row } from '../../firstMatch.ts';

export const mergeStates = ['ready', 'cooldown', 'pending', 'terminal'] as const;
type MergeState = (typeof mergeStates)[number];

interface MergeInput {
  readonly level: number;
  readonly maximumLevel: number;
  readonly hasPendingWeight: boolean;
  readonly nextMergeBlock: bigint;
  readonly blockHeight: bigint;
}

const table: readonly Row<MergeInput, MergeState>[] = [
  ['terminal', ({ level, maximumLevel }) => level >= maximumLevel],
  ['pending', ({ hasPendingWeight }) => hasPendingWeight],
  ['cooldown', ({ blockHeight, nextMergeBlock }) => blockHeight < nextMergeBlock],
  ['ready', otherwise],
];

/** How far a miner position is from its next merge. */
export function findMergeState(position: MergeInput): MergeState {
  return findFirstMatch(table, position);
}
