import type { ChainFeedDetails } from '../events/eventSchemas.ts';
import { type FeedItem, type FeedSource, type FeedType, feedTypes } from './feedItem.ts';

/** Something that events are about, by which they are found. */
export type EventNoun =
  | { readonly kind: 'owner'; readonly address: string }
  | { readonly kind: 'miner'; readonly tokenId: bigint }
  | { readonly kind: 'transaction'; readonly hash: string }
  | { readonly kind: 'ethereumBlock'; readonly number: bigint }
  /** A measurement event by its ID, which names all of it. */
  | { readonly kind: 'achievement'; readonly id: string };

/** The source whose events may name a noun. */
export function findSource({ kind }: EventNoun): FeedSource {
  return kind === 'achievement' ? 'measurement' : 'chain';
}

/** The key of all events of a noun, or of its events of one type. Only an owner and a miner have events enough for a key with a type. */
export function formatKey(noun: EventNoun, type: FeedType | null): string {
  const key = formatNoun(noun);
  return type !== null && (noun.kind === 'owner' || noun.kind === 'miner') ? `${key} ${type}` : key;
}

/** All keys of an event: its category, its type, and the keys of its nouns. */
export function listEventKeys(item: FeedItem): string[] {
  const { type } = item;
  const keys = listNouns(item).flatMap((noun) => [formatKey(noun, null), formatKey(noun, type)]);
  return [...new Set([feedTypes[type], type, ...keys])];
}

function listNouns({ id, event }: FeedItem): EventNoun[] {
  if (event.family === 'measurement') return [{ kind: 'achievement', id }];
  return [
    { kind: 'transaction', hash: event.source.transactionHash },
    { kind: 'ethereumBlock', number: event.source.blockNumber },
    ...listParties(event.details),
  ];
}

/** The owner and the miners of an event. */
function listParties(details: ChainFeedDetails): EventNoun[] {
  switch (details.type) {
    case 'system.settlement_completed':
    case 'system.mining_checkpointed':
      return [];
    case 'player.miner_minted':
      return [toOwner(details.owner), toMiner(details.tokenId)];
    case 'player.miners_merged':
      return [toOwner(details.owner), toMiner(details.survivorTokenId), toMiner(details.donorTokenId)];
    case 'player.rewards_claimed':
      return [toOwner(details.owner), ...details.tokenIds.map(toMiner)];
  }
}

const toOwner = (address: string): EventNoun => ({ kind: 'owner', address });
const toMiner = (tokenId: bigint): EventNoun => ({ kind: 'miner', tokenId });

function formatNoun(noun: EventNoun): string {
  switch (noun.kind) {
    case 'owner':
      return `owner ${noun.address}`;
    case 'miner':
      return `miner ${noun.tokenId}`;
    case 'transaction':
      return `transaction ${noun.hash}`;
    case 'ethereumBlock':
      return `block ${noun.number}`;
    case 'achievement':
      return noun.id;
  }
}
