import type { Bodies } from '../page.ts';
import { formatShort, shortenHash } from './numbers.ts';

export type OwnerEvent = Extract<Bodies['activity'], { status: 'available' }>['activity'][number];

interface Asset {
  readonly tokenSymbol: string;
  readonly tokenDecimals: number;
}

const titles: Readonly<Record<OwnerEvent['kind'], string>> = {
  mint: 'New miner',
  merge: 'Merged',
  claim: 'Claimed',
  transfer: 'Transferred',
  checkpoint: 'Minted',
};

/** Describes an event of an owner's activity in words. */
export function describeOwnerEvent(event: OwnerEvent, owner: string, asset: Asset) {
  return { title: titles[event.kind], sentence: describe(event, owner, asset) };
}

function describe(event: OwnerEvent, owner: string, { tokenSymbol, tokenDecimals }: Asset): string {
  const miners = `${event.tokenIds.length === 1 ? 'miner' : 'miners'} ${event.tokenIds.map((id) => `#${id}`).join(', ')}`;
  const amount =
    event.amountBaseUnits === null
      ? ''
      : `${formatShort(event.amountBaseUnits, tokenDecimals, 4)} ${tokenSymbol}`;
  switch (event.kind) {
    case 'mint':
      return `Created ${miners}.`;
    case 'merge':
      return `Merged ${miners}${event.level === null ? '' : ` to level ${event.level}`}.`;
    case 'claim':
      return `Claimed ${amount} of ${miners}.`;
    case 'transfer':
      return event.from === owner
        ? `Gave ${miners} to ${shortenHash(event.to ?? 'an unknown address')}.`
        : `Received ${miners} from ${shortenHash(event.from ?? 'an unknown address')}.`;
    case 'checkpoint':
      return `Minted ${amount}.`;
  }
}
