import { shortenHash } from './format/numbers.ts';

/** A place in the explorer. Each has its own URL, which can be opened, bookmarked and shared. */
export type Place =
  | { readonly view: 'glance' }
  | { readonly view: 'statistics'; readonly range: StatisticsRange }
  | { readonly view: 'settlements'; readonly range: SettlementsRange }
  | { readonly view: 'owners'; readonly address: string | null }
  | { readonly view: 'feed'; readonly category: FeedCategory }
  | { readonly view: 'embed' }
  | { readonly view: RecordView; readonly id: string }
  | {
      readonly view: 'missing';
      readonly reason: string;
      readonly others: readonly Place[];
      /** The text that was searched for. */
      readonly query?: string;
    };

/** Views of one record. Only the server renders them, and they have no script. */
export type RecordView = 'miner' | 'round' | 'block' | 'settlement' | 'event';

const statisticsRanges = ['7d', '30d'] as const;
export type StatisticsRange = (typeof statisticsRanges)[number];
const settlementsRanges = ['now', '24h', '7d', '30d'] as const;
export type SettlementsRange = (typeof settlementsRanges)[number];
const feedCategories = ['all', 'protocol', 'players', 'measurement'] as const;
export type FeedCategory = (typeof feedCategories)[number];

/** Returns the place of a page with script. It ignores unknown parameters, so every link leads somewhere. */
export function parsePlace(path: string, query: string): Place {
  const parameters = new URLSearchParams(query);
  const [, first = '', second = ''] = path.split('/');
  switch (first) {
    case 'statistics':
      return { view: 'statistics', range: choose(statisticsRanges, parameters.get('range'), '7d') };
    case 'settlements':
      return { view: 'settlements', range: choose(settlementsRanges, parameters.get('range'), '7d') };
    case 'owners':
      return { view: 'owners', address: second.toLowerCase() || null };
    case 'feed':
      return { view: 'feed', category: choose(feedCategories, parameters.get('category'), 'all') };
    default:
      return { view: 'glance' };
  }
}

export function formatPlace(place: Place): string {
  switch (place.view) {
    case 'glance':
      return '/';
    case 'statistics':
      return place.range === '7d' ? '/statistics' : `/statistics?range=${place.range}`;
    case 'settlements':
      return place.range === '7d' ? '/settlements' : `/settlements?range=${place.range}`;
    case 'owners':
      return place.address === null ? '/owners' : `/owners/${place.address}`;
    case 'feed':
      return place.category === 'all' ? '/feed' : `/feed?category=${place.category}`;
    case 'embed':
      return '/embed';
    case 'missing':
      return '/search';
    default:
      return `/${place.view}s/${encodeURIComponent(place.id)}`;
  }
}

export function nameView(place: Place): string {
  if ('id' in place)
    return `${place.view.charAt(0).toUpperCase()}${place.view.slice(1)} ${place.view === 'event' ? '' : shortenHash(place.id)}`.trim();
  if (place.view === 'owners' && place.address !== null) return `Owner ${shortenHash(place.address)}`;
  if (place.view === 'missing') return place.others.length > 1 ? 'Which one?' : 'Not found';
  const names = {
    glance: 'At a glance',
    statistics: 'Statistics',
    settlements: 'Settlements',
    owners: 'Owners',
    feed: 'Feed',
    embed: 'The wheel',
  };
  return names[place.view];
}

function choose<Option extends string>(
  options: readonly Option[],
  requested: string | null,
  fallback: Option,
): Option {
  return options.find((option) => option === requested) ?? fallback;
}
