/** A place in the explorer. Each has its own URL, which can be opened, bookmarked and shared. */
export type Place =
  | { readonly view: 'glance' }
  | { readonly view: 'statistics'; readonly range: StatisticsRange }
  | { readonly view: 'settlements'; readonly range: SettlementsRange }
  | { readonly view: 'owners'; readonly address: string | null }
  | { readonly view: 'feed'; readonly category: FeedCategory };

export const statisticsRanges = ['7d', '30d'] as const;
export type StatisticsRange = (typeof statisticsRanges)[number];
export const settlementsRanges = ['now', '24h', '7d', '30d'] as const;
export type SettlementsRange = (typeof settlementsRanges)[number];
export const feedCategories = ['all', 'protocol', 'players', 'measurement'] as const;
export type FeedCategory = (typeof feedCategories)[number];

/** Stands for every invalid address, on a page that does not repeat it. */
export const noAddress = '';

/** Maximum length of an address in a URL. Longer text is cut, and is invalid either way. */
const addressLengthMax = 64;
/** Half of a surrogate pair. */
const loneSurrogate = /\p{Surrogate}/gu;

/** Returns the place of a URL. It ignores unknown parameters, so every link leads somewhere. */
export function parsePlace(path: string, query: string): Place {
  const parameters = new URLSearchParams(query);
  const [, first = '', second = ''] = path.split('/');
  switch (first) {
    case 'statistics':
      return { view: 'statistics', range: choose(statisticsRanges, parameters.get('range'), '7d') };
    case 'settlements':
      return { view: 'settlements', range: choose(settlementsRanges, parameters.get('range'), '7d') };
    case 'owners': {
      const address = (decodeSegment(second) || parameters.get('address') || '').trim();
      return { view: 'owners', address: address === '' ? null : cut(address) };
    }
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
      return place.address === null ? '/owners' : `/owners/${encodeURIComponent(place.address)}`;
    case 'feed':
      return place.category === 'all' ? '/feed' : `/feed?category=${place.category}`;
  }
}

export function nameView({ view }: Place): string {
  const names = {
    glance: 'At a glance',
    statistics: 'Statistics',
    settlements: 'Settlements',
    owners: 'Owners',
    feed: 'Feed',
  };
  return names[view];
}

function choose<Option extends string>(
  options: readonly Option[],
  requested: string | null,
  fallback: Option,
): Option {
  return options.find((option) => option === requested) ?? fallback;
}

/** Does not cut within a character, because half a surrogate pair cannot be encoded in a URL. */
function cut(text: string): string {
  return [...text.slice(0, 2 * addressLengthMax)]
    .slice(0, addressLengthMax)
    .join('')
    .replaceAll(loneSurrogate, '');
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
