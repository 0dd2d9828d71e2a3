import { type FeedCategory, feedCategories } from '../../actors/feed/feedItem.ts';
import { type StatisticsRange, statisticsRanges } from '../../actors/statistics/statistics.ts';
import { type SettlementRange, settlementRanges } from '../../actors/views/chain/settlementHistory.ts';

/** A place in the explorer. Each has its own URL, which can be opened, bookmarked and shared. */
export type Place =
  /** The first page, with the tokens of an owner in each stage if it names one. */
  | { readonly view: 'glance'; readonly owner?: string }
  | { readonly view: 'statistics'; readonly range: StatisticsRange }
  | { readonly view: 'settlements'; readonly range: SettlementRange }
  | { readonly view: 'owners'; readonly address: string | null; readonly earlier?: Earlier }
  | { readonly view: 'feed'; readonly category: FeedCategory; readonly earlier?: Earlier }
  | { readonly view: 'about' }
  | { readonly view: 'status' }
  | { readonly view: RecordView; readonly id: string }
  | {
      readonly view: 'missing';
      readonly reason: string;
      readonly others: readonly Place[];
      /** The text that was searched for. */
      readonly query?: string;
    };

/** A further page of a list that a view shows: the list, and where its page begins. */
export interface Earlier {
  readonly list: ListName;
  readonly cursor: string;
}
/** The lists of a page: events of the feed, or an owner's activity or positions. */
export type ListName = (typeof listNames)[number];
const listNames = ['events', 'activity', 'positions'] as const;

/** The places that have lists. */
export type ListPlace = Extract<Place, { readonly view: 'owners' | 'feed' }>;

/** Views of one record: with an `s` behind it, its name begins the record's path. */
export type RecordView = 'miner' | 'round' | 'transaction' | 'day';

/** Returns the place of a view. It ignores unknown parameters, so every link leads somewhere. */
export function parsePlace(path: string, query: string): Place {
  const parameters = new URLSearchParams(query);
  const [, first = '', second = ''] = path.split('/');
  switch (first) {
    case 'statistics':
      return { view: 'statistics', range: choose(statisticsRanges, parameters.get('range'), '7d') };
    case 'settlements':
      return { view: 'settlements', range: choose(settlementRanges, parameters.get('range'), '7d') };
    case 'owners':
      return { view: 'owners', address: second.toLowerCase() || null, ...parseEarlier(parameters) };
    case 'feed':
      return {
        view: 'feed',
        category: choose(feedCategories, parameters.get('category'), 'all'),
        ...parseEarlier(parameters),
      };
    case 'about':
    case 'status':
      return { view: first };
    default:
      return { view: 'glance' };
  }
}

/** Further pages of the views' lists, by their parameters: `cursor` without a list is one of the first list. */
function parseEarlier(parameters: URLSearchParams): { readonly earlier?: Earlier } {
  const cursor = parameters.get('cursor');
  return cursor === null
    ? {}
    : { earlier: { list: choose(listNames, parameters.get('list'), 'events'), cursor } };
}

export function formatPlace(place: Place): string {
  switch (place.view) {
    case 'glance':
      return formatAddress('/', { owner: place.owner });
    case 'statistics':
    case 'settlements':
      return formatAddress(`/${place.view}`, { range: place.range === '7d' ? undefined : place.range });
    case 'owners':
      return formatAddress(
        place.address === null ? '/owners' : `/owners/${place.address}`,
        {},
        place.earlier,
      );
    case 'feed':
      return formatAddress(
        '/feed',
        { category: place.category === 'all' ? undefined : place.category },
        place.earlier,
      );
    case 'about':
    case 'status':
      return `/${place.view}`;
    case 'missing':
      return '/search';
    default:
      return `/${place.view}s/${encodeURIComponent(place.id)}`;
  }
}

function formatAddress(
  path: string,
  parameters: Readonly<Record<string, string | undefined>>,
  earlier?: Earlier,
): string {
  const all = {
    ...parameters,
    list: earlier === undefined || earlier.list === 'events' ? undefined : earlier.list,
    cursor: earlier?.cursor,
  };
  const query = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return query.length === 0 ? path : `${path}?${query.join('&')}`;
}

function choose<Option extends string>(
  options: readonly Option[],
  requested: string | null,
  fallback: Option,
): Option {
  return options.find((option) => option === requested) ?? fallback;
}
