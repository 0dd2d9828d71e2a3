export const mergeStates = ['ready', 'cooldown', 'pending', 'terminal'] as const;
type MergeState = (typeof mergeStates)[number];

interface MergeInput {
  readonly level: number;
  readonly maximumLevel: number;
  readonly hasPendingWeight: boolean;
  readonly nextMergeBlock: bigint;
  readonly blockHeight: bigint;
}

/** How far a miner position is from its next merge. */
export function findMergeState(position: MergeInput): MergeState {
  if (position.level >= position.maximumLevel) return 'terminal';
  if (position.hasPendingWeight) return 'pending';
  return position.blockHeight < position.nextMergeBlock ? 'cooldown' : 'ready';
}
