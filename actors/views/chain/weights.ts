import type { ChainState } from '../../chain/state/chainState.ts';
import { activateWeight, computeActiveWeight, computeTargetWeight } from '../../chain/state/rewards.ts';
import type { Address } from '../../schemas/hex.ts';

/** A place in the order of weights. */
export interface WeightPlace {
  /** Mining power that earns now. */
  readonly activeWeight: bigint;
  /** Orders equal weights. */
  readonly key: string;
}

/** An owner of live miners. */
export interface OwnerWeight extends WeightPlace {
  readonly address: Address;
  readonly positionCount: bigint;
  /** Mining power after pending changes. */
  readonly targetWeight: bigint;
}

/** All live miners and their owners at a state's block, the heaviest first; equal weights by token ID or address. */
export function rankWeights(state: ChainState) {
  const miners: (WeightPlace & { readonly tokenId: number })[] = [];
  const owners = new Map<Address, OwnerWeight>();
  for (const stored of state.minerPositions.values()) {
    const position = activateWeight(state.mining, stored);
    const { tokenId, owner: address } = position;
    const activeWeight = computeActiveWeight(position);
    miners.push({ tokenId, activeWeight, key: String(tokenId).padStart(4, '0') });
    const known = owners.get(address);
    owners.set(address, {
      address,
      key: address,
      positionCount: (known?.positionCount ?? 0n) + 1n,
      activeWeight: (known?.activeWeight ?? 0n) + activeWeight,
      targetWeight: (known?.targetWeight ?? 0n) + computeTargetWeight(position),
    });
  }
  return { miners: miners.sort(comparePlaces), owners: [...owners.values()].sort(comparePlaces) };
}

export function comparePlaces(one: WeightPlace, other: WeightPlace): number {
  if (one.activeWeight !== other.activeWeight) return one.activeWeight > other.activeWeight ? -1 : 1;
  return one.key < other.key ? -1 : one.key > other.key ? 1 : 0;
}
