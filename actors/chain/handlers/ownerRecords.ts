import { List } from 'immutable';
import type { Address } from '../../schemas/hex.ts';
import type { ChainState } from '../state/chainState.ts';
import type { MinerPosition } from '../state/miningState.ts';
import type { LoggedActivity, OwnerEvent, OwnerState } from '../state/ownerState.ts';

/** The members that only some kinds of owners' events have, each null. */
export const absentMembers = {
  amountBaseUnits: null,
  from: null,
  to: null,
  level: null,
  effectiveRound: null,
  nextMergeBlock: null,
};

const emptyOwner: OwnerState = { tokenIds: [], paidBaseUnits: 0n, activityCount: 0, activity: List() };

/** Adds an event to the activity of each owner. The owners must differ. */
export function withActivity(
  state: ChainState,
  owners: readonly Address[],
  eventWithoutPosition: Omit<OwnerEvent, 'position'>,
): ChainState {
  const event: OwnerEvent = { ...eventWithoutPosition, position: state.position };
  const { blockNumber } = event.source;
  const logged = owners.map((owner): LoggedActivity => {
    return { blockNumber, owner, eventNumber: state.owners.get(owner)?.activityCount ?? 0 };
  });
  const updated = state.owners.withMutations((all) => {
    for (const owner of owners) {
      const known = all.get(owner) ?? emptyOwner;
      const { activityCount, activity } = known;
      all.set(owner, { ...known, activityCount: activityCount + 1, activity: activity.push(event) });
    }
  });
  const activityProgress = {
    ...state.activityProgress,
    pending: state.activityProgress.pending.push(...logged),
  };
  return { ...state, owners: updated, activityProgress };
}

export function withPayment(state: ChainState, owner: Address, amountBaseUnits: bigint): ChainState {
  const owners = state.owners.update(owner, emptyOwner, (known) => ({
    ...known,
    paidBaseUnits: known.paidBaseUnits + amountBaseUnits,
  }));
  return { ...state, owners };
}

export function withToken(state: ChainState, owner: Address, tokenId: number): ChainState {
  const owners = state.owners.update(owner, emptyOwner, (known) => ({
    ...known,
    // Keeps them ascending. The new ID is usually the largest.
    tokenIds: known.tokenIds.toSpliced(known.tokenIds.findLastIndex((one) => one < tokenId) + 1, 0, tokenId),
  }));
  return { ...state, owners };
}

export function withoutToken(state: ChainState, owner: Address, tokenId: number): ChainState {
  const owners = state.owners.update(owner, emptyOwner, (known) => ({
    ...known,
    tokenIds: known.tokenIds.filter((one) => one !== tokenId),
  }));
  return { ...state, owners };
}

/** @throws Error if the token has no position. */
export function requirePosition(state: ChainState, tokenId: number): MinerPosition {
  const position = state.minerPositions.get(tokenId);
  if (position === undefined) throw new Error(`token ${tokenId} has no position`);
  return position;
}
