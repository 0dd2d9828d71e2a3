import type { Shown } from '../page.ts';
import { nameMiners } from './events.ts';
import { formatShort } from './numbers.ts';
import { type Sentence, say, toOwner } from './sentence.ts';

export type OwnerEvent = Shown<'activity'>['activity'][number];

interface Asset {
  readonly tokenSymbol: string;
  readonly tokenDecimals: number;
}

/** Describes an event of an owner's activity in words. Transfers, which have no amount, need no asset. */
export function describeOwnerEvent(event: OwnerEvent, owner: string, asset: Asset | null): Sentence {
  const miners = nameMiners(event.tokenIds);
  const amount =
    event.amountBaseUnits === null || asset === null
      ? ''
      : `${formatShort(event.amountBaseUnits, asset.tokenDecimals, 4)} ${asset.tokenSymbol}`;
  const nameOwner = (address: string | null) => (address === null ? 'an unknown address' : toOwner(address));
  switch (event.kind) {
    case 'mint':
      return say`Created ${miners}.`;
    case 'merge':
      return say`Merged ${miners}${event.level === null ? '' : ` to level ${event.level}`}.`;
    case 'claim':
      return say`Claimed ${amount} of ${miners}.`;
    case 'transfer':
      if (event.from === owner) return say`Gave ${miners} to ${nameOwner(event.to)}.`;
      if (event.to === owner) return say`Received ${miners} from ${nameOwner(event.from)}.`;
      return say`${nameOwner(event.from)} gave ${miners} to ${nameOwner(event.to)}.`;
    case 'checkpoint':
      return say`Minted ${amount}.`;
  }
}
