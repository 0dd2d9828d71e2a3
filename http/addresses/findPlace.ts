import { findTransactionHash } from '../../actors/feed/feedItem.ts';
import { isDate } from './days.ts';
import { parseOwner } from './ownerAddress.ts';
import { formatPlace, type Place, parsePlace, type RecordView } from './place.ts';
import { decodePercent, minerPath, type PathSegment, roundPath, transactionPath } from './recordPaths.ts';
import { describeAddress, describeMissing, type Known, normalizeHex, search } from './search.ts';

/** The form of the ID that each kind of record has in the path, and the sentence for any other. */
const ids: Readonly<Record<RecordView, Pick<PathSegment, 'parse'> & { readonly meaning: string }>> = {
  miner: { parse: minerPath.parse, meaning: 'A miner has a number from 1 to 9999.' },
  round: { parse: roundPath.parse, meaning: 'A round has a number from 1 to 999999999.' },
  transaction: {
    parse: transactionPath.parse,
    meaning: 'A transaction has 0x, then 64 digits from 0 to 9 and a to f.',
  },
  // Whether there is such a date is told apart.
  day: {
    parse: (text) => (/^\d{4}-\d\d-\d\d$/.test(text) ? text : null),
    meaning: 'A day has a date such as 2026-11-25.',
  },
};
const recordViews = Object.keys(ids) as RecordView[]; // The keys that the type above lists.

/** Where lists of records are shown, by the first part of their addresses. */
const lists: Readonly<Record<string, string>> = {
  miners: '/owners',
  rounds: '/settlements',
  days: '/statistics',
  events: '/feed',
};

const withoutPage = describeMissing(
  'Events and blocks have no pages of their own. The feed has all events, and each transaction has a page.',
  [{ view: 'feed', category: 'all' }],
);

/**
 * Returns the place of a requested page, or the path to which a search or an unusual way to write an address leads.
 *
 * @param readKnown called for a search only, since it reads a body.
 */
export function findPlace(path: string, query: string, readKnown: () => Known): Place | string {
  const [, first = '', second = ''] = path.split('/');
  if (first === 'search') {
    const text = new URLSearchParams(query).get('q') ?? '';
    const found = search(text, readKnown());
    return typeof found === 'string' ? found : { ...found, query: text };
  }
  const id = decodePercent(second).trim();
  const pinned = first === '' ? (new URLSearchParams(query).get('owner') ?? '').trim() : '';
  const owner = first === 'owners' ? id : pinned;
  if (owner !== '') {
    const written = normalizeHex(owner);
    const address = parseOwner(written);
    if (address === null) return describeAddress(written);
    const place: Place =
      first === '' ? { view: 'glance', owner: address } : parsePlace(`/owners/${address}`, query);
    return written === owner ? place : formatPlace(place);
  }
  if (first === 'events' && id !== '') {
    const hash = findTransactionHash(id);
    if (hash !== null) return formatPlace({ view: 'transaction', id: hash });
    return id.startsWith('measurement:')
      ? formatPlace({ view: 'feed', category: 'measurement' })
      : withoutPage;
  }
  const list = id === '' ? lists[first] : undefined;
  if (list !== undefined) return list;
  if (first.endsWith('blocks')) return withoutPage;
  const view = id === '' ? undefined : recordViews.find((one) => `${one}s` === first);
  if (view === undefined) return parsePlace(path, query);
  const { parse, meaning } = ids[view];
  const written = view === 'transaction' ? normalizeHex(id) : id;
  if (parse(written) === null) return describeMissing(meaning);
  if (view === 'day' && !isDate(id)) return describeMissing('There is no such date.');
  return written === id ? { view, id } : formatPlace({ view, id: written });
}
