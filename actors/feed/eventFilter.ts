import { memoizeByIdentity } from '../caching/memoizeByIdentity.ts';
import { type EventNoun, findSource, formatKey, listEventKeys } from './eventKeys.ts';
import {
  type FeedCategory,
  type FeedItem,
  type FeedSource,
  type FeedType,
  feedTypes,
  isOfCategory,
  listStoredCategories,
} from './feedItem.ts';

/** Selects events of the feed. An event must meet every condition. */
export interface EventFilter {
  readonly category: FeedCategory;
  /** Null for any type. */
  readonly type: FeedType | null;
  /** Lists of nouns. An event must have one noun of each list. */
  readonly nouns: readonly (readonly EventNoun[])[];
  /** First time of recording (epoch milliseconds); null for any. */
  readonly fromMs: number | null;
  /** Time before which events were recorded (epoch milliseconds); null for any. */
  readonly toMs: number | null;
}

/** Selects all events of a category. */
export function selectCategory(category: FeedCategory): EventFilter {
  return { category, type: null, nouns: [], fromMs: null, toMs: null };
}

/** Creates a builder of checks, which remembers the keys of the events in memory. */
export function createEventChecks(): (filter: EventFilter) => (item: FeedItem) => boolean {
  const findKeys = memoizeByIdentity((item: FeedItem) => new Set(listEventKeys(item)));
  return ({ category, type, nouns, fromMs, toMs }) => {
    const keys = nouns.map((list) => list.map((noun) => formatKey(noun, null)));
    return (item) =>
      isOfCategory(category, item.type) &&
      (type === null || item.type === type) &&
      (fromMs === null || item.recordedAtMs >= fromMs) &&
      (toMs === null || item.recordedAtMs < toMs) &&
      keys.every((list) => list.some((key) => findKeys(item).has(key)));
  };
}

/** Kinds of nouns, from those with the fewest events. */
const byEventCount: readonly EventNoun['kind'][] = [
  'achievement',
  'transaction',
  'ethereumBlock',
  'miner',
  'owner',
];

/** Keys of the stored events of a source among which are all that meet a filter. No keys if no event of the source can meet it. */
export function listStoredKeys(
  { category, type, nouns }: EventFilter,
  source: FeedSource,
): readonly string[] {
  const categories = listStoredCategories(category, source);
  if (type !== null && !categories.includes(feedTypes[type])) return [];
  const [fewest] = nouns.toSorted((one, other) => findRank(one) - findRank(other));
  if (fewest === undefined) return type === null ? categories : [type];
  const named = categories.length === 0 ? [] : fewest.filter((noun) => findSource(noun) === source);
  return named.map((noun) => formatKey(noun, type));
}

function findRank([first]: readonly EventNoun[]): number {
  return first === undefined ? -1 : byEventCount.indexOf(first.kind);
}
