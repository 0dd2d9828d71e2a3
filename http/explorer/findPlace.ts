import { parseOwner } from '../routes/ownerAddress.ts';
import {
  ethereumBlockPath,
  eventPath,
  minerPath,
  roundPath,
  transactionPath,
  workBlockPath,
} from '../routes/recordPaths.ts';
import { decodePercent, type PathParameter } from '../routes/route.ts';
import { isDate } from './days.ts';
import { formatPlace, type Place, parsePlace, type RecordView } from './place.ts';
import { describeAddress, describeMissing, type Known, normalizeHex, search } from './search.ts';

/** The form of the ID that each kind of record has in the path, and the sentence for any other. */
const ids: Readonly<Record<RecordView, Pick<PathParameter, 'parse'> & { readonly meaning: string }>> = {
  miner: { parse: minerPath.parse, meaning: 'A miner has a number from 1 to 9999.' },
  round: {
    parse: roundPath.parse,
    meaning: 'Rounds are numbered from 1, and this would be far in the future.',
  },
  block: { parse: workBlockPath.parse, meaning: 'Work blocks are numbered from 1.' },
  'ethereum-block': { parse: ethereumBlockPath.parse, meaning: 'Ethereum blocks are numbered from 0.' },
  transaction: {
    parse: transactionPath.parse,
    meaning: 'A transaction has 0x, then 64 digits from 0 to 9 and a to f.',
  },
  event: { parse: eventPath.parse, meaning: 'An event has an ID as in the feed.' },
  // Whether there is such a date is told apart.
  day: {
    parse: (text) => (/^\d{4}-\d\d-\d\d$/.test(text) ? text : null),
    meaning: 'A day has a date such as 2026-11-25.',
  },
};
const recordViews = Object.keys(ids) as RecordView[]; // The keys that the type above lists.

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
  if (first === 'embed') return { view: 'embed' };
  const id = decodePercent(second).trim();
  if (first === 'owners' && id !== '') {
    const written = normalizeHex(id);
    const address = parseOwner(written);
    if (address === null) return describeAddress(written);
    return written === id ? parsePlace(path, query) : `/owners/${address}`;
  }
  // Transactions were called settlements in earlier addresses.
  const named = first === 'settlements' && id !== '' ? 'transactions' : first;
  const view = id === '' ? undefined : recordViews.find((one) => `${one}s` === named);
  if (view === undefined) return parsePlace(path, query);
  const { parse, meaning } = ids[view];
  const written = view === 'transaction' ? normalizeHex(id) : id;
  if (parse(written) === null) return describeMissing(meaning);
  if (view === 'day' && !isDate(id)) return describeMissing('There is no such date.');
  return written === id && named === first ? { view, id } : formatPlace({ view, id: written });
}
