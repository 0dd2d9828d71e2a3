import { findFirstMatch, otherwise, type Row } from '../../firstMatch.ts';

export const mintRoundStates = ['accruing', 'ready'] as const;
export type MintRoundState = (typeof mintRoundStates)[number];

interface MintRoundInput {
  readonly round: bigint;
  readonly settledThroughRound: bigint;
}

const table: readonly Row<MintRoundInput, MintRoundState>[] = [
  ['ready', ({ round, settledThroughRound }) => settledThroughRound >= round],
  ['accruing', otherwise],
];

/** The next round to mint: it accrues until it is settled, then a checkpoint can mint it. */
export function findMintRoundState(input: MintRoundInput): MintRoundState {
  return findFirstMatch(table, input);
}
