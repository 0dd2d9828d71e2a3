import type { Address } from '../../../actors/schemas/hex.ts';
import { coreEvents, economyEvents } from './economyState.ts';
import { buildEvent, type WrittenEvent } from './writtenSpans.ts';

const configuring = ['CoreConfigured', 'VersionActivated', 'TokenCreated', 'MiningConfigured'];

/** Logs that configure the contracts, so that the economy's views are available. */
export const configuredEconomy: readonly WrittenEvent[] = [...coreEvents(), ...economyEvents()].filter(
  ({ name }) => configuring.includes(name),
);

export function minted(owner: Address, tokenId: number): WrittenEvent {
  return buildEvent('mining', 'PositionMinted', {
    owner,
    tokenId: BigInt(tokenId),
    weight: 100n,
    nextMergeBlock: BigInt(tokenId),
    firstRound: 2n ** 64n - 1n,
  });
}

export function transferred(from: Address, to: Address, tokenId: number): WrittenEvent {
  return buildEvent('collection', 'Transfer', { from, to, tokenId: BigInt(tokenId) });
}
