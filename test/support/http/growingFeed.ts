import { List } from 'immutable';
import type { ChainFeedEvent } from '../../../actors/events/eventSchemas.ts';
import { nothingEvicted } from '../../../actors/events/eventWindow.ts';
import type { ChainViews } from '../../../actors/views/chain/chainViews.ts';
import { createEconomyViews } from '../chain/economyState.ts';
import { buildFeedEvent } from '../chain/feedOfEvents.ts';

/** A chain whose feed has the events that a test adds. */
export function createGrowingFeed() {
  const { views } = createEconomyViews();
  let events = List<ChainFeedEvent>();
  const economy = () => ({ ...views.economy(), feed: { events, evicted: nothingEvicted } });
  return {
    views: { ...views, economy } as ChainViews,
    add: (details: ChainFeedEvent['details']) => {
      events = events.push(buildFeedEvent(details, events.size));
    },
  };
}
