import { List } from 'immutable';
import type { Address } from '../../schemas/hex.ts';
import {
  type ChainState,
  noteChanged,
  type OwnerEvent,
  type OwnerState,
  type Position,
  type RecordName,
} from '../chainState.ts';

/** Members of an owner's event that only some kinds have. */
export const absentMembers = {
  amountBaseUnits: null,
  from: null,
  to: null,
  level: null,
  effectiveRound: null,
  nextMergeBlock: null,
};

const emptyOwner: OwnerState = { tokenIds: [], activity: List() };

export function withActivity(state: ChainState, owners: readonly Address[], event: OwnerEvent): ChainState {
  let updated = state.owners;
  const names = owners.map((owner): RecordName => {
    const known = updated.get(owner) ?? emptyOwner;
    updated = updated.set(owner, { ...known, activity: known.activity.push(event) });
    return `activity ${owner}/${known.activity.size}`;
  });
  return noteChanged({ ...state, owners: updated }, ...names);
}

export function withToken(state: ChainState, owner: Address, tokenId: number): ChainState {
  const owners = state.owners.update(owner, emptyOwner, (known) => ({
    ...known,
    // Ascending; mostly the new one is the largest.
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

/** @throws Error when the token has none. */
export function requirePosition(state: ChainState, tokenId: number): Position {
  const position = state.positions.get(tokenId);
  if (position === undefined) throw new Error(`token ${tokenId} has no position`);
  return position;
}
