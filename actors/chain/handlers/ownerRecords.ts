import type { Address } from '../../schemas/hex.ts';
import type { ChainState } from '../state/chainState.ts';
import type { MinerPosition } from '../state/miningState.ts';
import { findOwner, type KnownOwners, type OwnerEvent, setOwner } from '../state/ownerState.ts';

/** The members that only some kinds of owners' events have, each null. */
export const absentMembers = {
  amountBaseUnits: null,
  from: null,
  to: null,
  level: null,
  effectiveRound: null,
  nextMergeBlock: null,
};

/** Adds an event to the activity of each owner. The owners must differ. */
export function withActivity(
  state: ChainState,
  owners: readonly Address[],
  eventWithoutPosition: Omit<OwnerEvent, 'position'>,
): ChainState {
  const event: OwnerEvent = { ...eventWithoutPosition, position: state.position };
  const { blockNumber } = event.source;
  let known: KnownOwners = state;
  let { pending } = state.activityProgress;
  for (const owner of owners) {
    const before = findOwner(known, owner);
    const { activityCount: eventNumber, activity } = before;
    pending = pending.push({ blockNumber, owner, eventNumber });
    const after = { ...before, activityCount: eventNumber + 1, activity: activity.push(event) };
    known = setOwner(known, owner, after);
  }
  return { ...state, ...known, activityProgress: { ...state.activityProgress, pending } };
}

export function withPayment(state: ChainState, owner: Address, amountBaseUnits: bigint): ChainState {
  const known = findOwner(state, owner);
  const paidBaseUnits = known.paidBaseUnits + amountBaseUnits;
  return { ...state, ...setOwner(state, owner, { ...known, paidBaseUnits }) };
}

export function withToken(state: ChainState, owner: Address, tokenId: number): ChainState {
  const known = findOwner(state, owner);
  // Keeps them ascending. The new ID is usually the largest.
  const at = known.tokenIds.findLastIndex((one) => one < tokenId) + 1;
  const tokenIds = known.tokenIds.toSpliced(at, 0, tokenId);
  return { ...state, ...setOwner(state, owner, { ...known, tokenIds }) };
}

export function withoutToken(state: ChainState, owner: Address, tokenId: number): ChainState {
  const known = findOwner(state, owner);
  const tokenIds = known.tokenIds.filter((one) => one !== tokenId);
  return { ...state, ...setOwner(state, owner, { ...known, tokenIds }) };
}

/** @throws Error if the token has no position. */
export function requirePosition(state: ChainState, tokenId: number): MinerPosition {
  const position = state.minerPositions.get(tokenId);
  if (position === undefined) throw new Error(`token ${tokenId} has no position`);
  return position;
}
