import { Map as ImmutableMap, List } from 'immutable';
import { RecordRefused, type RecordValue, readRecords } from '../../foldRecord.ts';
import { type Address, isAddress } from '../../schemas/hex.ts';
import type { MinerPosition } from '../state/miningState.ts';
import type { LoggedActivity, OwnerEvent, OwnerState } from '../state/ownerState.ts';
import { chainRecords } from './chainRecords.ts';

/** An owner while records are collected. The list of events is mutable. */
interface CollectedOwner {
  readonly tokenIds: number[];
  activityCount: number;
  readonly activity: List<OwnerEvent>;
}

type EventValue = RecordValue<typeof chainRecords.activity>;
type PositionValue = RecordValue<typeof chainRecords.position>;

/**
 * Collects positions and owners from their records. Maps and lists grow with the records, so that completion, which blocks the event
 * loop, has little left to do. Equal addresses share one string, since they are very frequent.
 */
export function collectOwners() {
  const minerPositions = ImmutableMap<number, MinerPosition>().asMutable();
  const collected = new Map<Address, CollectedOwner>();
  const addresses = new Map<string, Address>();

  function share(address: Address): Address {
    const known = addresses.get(address);
    if (known === undefined) addresses.set(address, address);
    return known ?? address;
  }

  function requireOwner(text: string): Address {
    const known = addresses.get(text);
    if (known !== undefined) return known;
    if (!isAddress(text)) throw new RecordRefused(`activity belongs to ${text}, which is not an address`);
    return share(text);
  }

  function findOrAdd(owner: Address): CollectedOwner {
    const known = collected.get(owner);
    if (known !== undefined) return known;
    const added = { tokenIds: [], activityCount: 0, activity: List<OwnerEvent>().asMutable() };
    collected.set(owner, added);
    return added;
  }

  function takePosition(position: PositionValue) {
    position.owner = share(position.owner);
    minerPositions.set(position.tokenId, position);
    findOrAdd(position.owner).tokenIds.push(position.tokenId);
  }

  function takeEvent(event: EventValue, key: string) {
    const slash = key.indexOf('/');
    const owner = requireOwner(key.slice(0, slash));
    const eventNumber = Number(key.slice(slash + 1));
    const known = findOrAdd(owner);
    if (!known.activity.isEmpty() && eventNumber !== known.activityCount)
      throw new RecordRefused(`activity of ${owner} ${known.activityCount} is missing`);
    event.address = share(event.address);
    if (event.from !== null) event.from = share(event.from);
    if (event.to !== null) event.to = share(event.to);
    known.activity.push(event);
    known.activityCount = eventNumber + 1;
  }

  function takeCount(count: number, key: string) {
    findOrAdd(requireOwner(key)).activityCount = count;
  }

  return {
    readers: [
      readRecords(chainRecords.position, takePosition),
      readRecords(chainRecords.activity, takeEvent),
      readRecords(chainRecords.activityCount, takeCount),
    ],
    complete(rowsThroughBlock: bigint | null) {
      const owners = ImmutableMap<Address, OwnerState>().asMutable();
      for (const [owner, { tokenIds, activityCount, activity }] of collected) {
        tokenIds.sort((a, b) => a - b);
        owners.set(owner, { tokenIds, activityCount, activity: activity.asImmutable() });
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
