import { Map as ImmutableMap, List } from 'immutable';
import { z } from 'zod';
import { RecordRefused } from '../../folds/foldRecord.ts';
import { type Address, isAddress } from '../../schemas/hex.ts';
import { amount, count } from '../../schemas/stateScalars.ts';
import type { MinerPosition, minerPosition } from '../state/miningState.ts';
import { type LoggedActivity, type OwnerState, ownerEvent } from '../state/ownerState.ts';

/** The amount an owner was paid, the number of its events, and the newest events, oldest first. */
export const ownerActivity = z.strictObject({
  paidBaseUnits: amount,
  activityCount: count,
  activity: z.array(ownerEvent),
});

/**
 * Collects positions and owners from their records. Maps and lists grow with the records, so that completion, which blocks the event
 * loop, has little left to do. Equal addresses share one string, since they are very frequent.
 */
export function collectOwners() {
  const minerPositions = ImmutableMap<number, MinerPosition>().asMutable();
  const tokens = new Map<Address, number[]>();
  const owners = ImmutableMap<Address, OwnerState>().asMutable();
  const addresses = new Map<Address, Address>();

  function share(address: Address): Address {
    const known = addresses.get(address);
    if (known === undefined) addresses.set(address, address);
    return known ?? address;
  }

  /** The list of an owner's tokens, which grows. */
  function findTokens(owner: Address): number[] {
    const known = tokens.get(owner);
    if (known !== undefined) return known;
    const added: number[] = [];
    tokens.set(owner, added);
    return added;
  }

  function takePosition(position: z.input<typeof minerPosition>) {
    position.owner = share(position.owner);
    minerPositions.set(position.tokenId, position);
    findTokens(position.owner).push(position.tokenId);
  }

  function takeOwner({ activity, ...totals }: z.input<typeof ownerActivity>, key: string) {
    if (!isAddress(key)) throw new RecordRefused(`activity belongs to ${key}, which is not an address`);
    for (const event of activity) {
      event.address = share(event.address);
      if (event.from !== null) event.from = share(event.from);
      if (event.to !== null) event.to = share(event.to);
    }
    const owner = share(key);
    owners.set(owner, { tokenIds: findTokens(owner), ...totals, activity: List(activity) });
  }

  return {
    takePosition,
    takeOwner,
    /** @throws RecordRefused if a position belongs to an owner without a record. */
    complete(rowsThroughBlock: bigint | null) {
      for (const [owner, tokenIds] of tokens) {
        if (!owners.has(owner)) throw new RecordRefused(`${owner} has positions, but no record`);
        tokenIds.sort((a, b) => a - b);
      }
      const activityProgress = { rowsThroughBlock, pending: listPending(owners, rowsThroughBlock ?? -1n) };
      return { minerPositions: minerPositions.asImmutable(), owners: owners.asImmutable(), activityProgress };
    },
  };
}

/**
 * Lists the events of blocks after the last one with rows, in the order of the chain. In a transfer, the sender's event comes before the
 * receiver's.
 */
function listPending(owners: ImmutableMap<Address, OwnerState>, through: bigint): List<LoggedActivity> {
  const found: { readonly withinBlock: number; readonly entry: LoggedActivity }[] = [];
  for (const [owner, { activityCount, activity }] of owners) {
    let eventNumber = activityCount;
    for (const { source, from } of activity.toSeq().reverse()) {
      eventNumber--;
      const { blockNumber, logIndex } = source;
      if (blockNumber <= through) break;
      const withinBlock = 2 * logIndex + (owner === from ? 0 : 1);
      found.push({ withinBlock, entry: { blockNumber, owner, eventNumber } });
    }
  }
  found.sort(
    (one, other) =>
      Number(one.entry.blockNumber - other.entry.blockNumber) || one.withinBlock - other.withinBlock,
  );
  return List(found.map(({ entry }) => entry));
}
