import { compareArrivals } from '../../../actors/events/arrival.ts';
import type { KeyedEventRow } from '../../../actors/feed/eventRows.ts';
import { compareShown, type FeedSource } from '../../../actors/feed/feedItem.ts';
import type { EvictedSource, OlderActivity, OlderEvents } from '../../../actors/pages/olderRows.ts';

const refuse = () => Promise.reject(new Error('no event was evicted'));

/** For sources that have evicted no event. */
export const noOlderEvents: OlderEvents = { before: refuse, after: refuse };

/** For owners with all events in memory. */
export const noOlderActivity: OlderActivity = { read: refuse, ofTransaction: refuse };

/** For sources whose evicted events are among these rows. */
export function olderAmong(listRows: (source: FeedSource) => readonly KeyedEventRow[]): OlderEvents {
  const listEvicted = ({ source, evicted }: EvictedSource) =>
    listRows(source).filter((row) => compareArrivals(row, evicted.through) <= 0);
  return {
    before: async (from, { keys, place, fromMs, limit }) =>
      listEvicted(from)
        .filter((row) => row.keys.some((key) => keys.includes(key)))
        .map((row) => ({ ...row, source: from.source }))
        .filter((row) => place === null || compareShown(place, row) < 0)
        .filter((row) => fromMs === null || row.recordedAtMs >= fromMs)
        .sort(compareShown)
        .slice(0, limit),
    after: async (from, { categories, place, limit }) => {
      const rows = listEvicted(from);
      const isHeld = (at: NonNullable<typeof place>) =>
        rows.some((row) => compareArrivals(row, at) === 0 && row.arrivedAtMs === at.storedAtMs);
      if (place !== null && !isHeld(place)) return null;
      return rows
        .filter((row) => place === null || compareArrivals(row, place) > 0)
        .filter(({ category }) => categories.includes(category))
        .slice(0, limit);
    },
  };
}
