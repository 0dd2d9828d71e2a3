import { List } from 'immutable';
import type { ChainFeedEvent } from '../../../actors/events/eventSchemas.ts';
import { nothingEvicted } from '../../../actors/events/eventWindow.ts';
import type { ChainViews } from '../../../actors/views/chain/chainViews.ts';
import { stateBlock, stateOwner } from './economyState.ts';
import { buildSource } from './hashes.ts';

/** An event of the feed. `index` is the number of its log, and the millisecond of its recording. */
export function buildFeedEvent(details: ChainFeedEvent['details'], index = 0): ChainFeedEvent {
  const { timestampMs } = stateBlock;
  return {
    family: 'chain',
    details,
    address: stateOwner,
    source: buildSource({ blockNumber: 50n, blockTimestampMs: timestampMs, logIndex: index }),
    recordedAtMs: timestampMs + index,
    position: 1,
    ordinal: index,
  };
}

export const rewardsClaimed = {
  type: 'player.rewards_claimed',
  owner: stateOwner,
  tokenIds: [1n],
  amountBaseUnits: 5n,
} as const;

/** Views with these events in the feed, independent of the state. Memory may have evicted earlier ones. */
export function replaceFeed(
  views: ChainViews,
  events: readonly ChainFeedEvent[],
  evicted = nothingEvicted,
): ChainViews {
  const feed = { events: List(events), evicted };
  const economy = () => {
    const view = views.economy();
    return view.status === 'unavailable' ? view : { ...view, feed };
  };
  return { ...views, economy };
}
