import { type Place, parsePlace, type RecordView } from '../../explorer/place.ts';
import {
  describeAddress,
  describeMissing,
  normalizeHex,
  type SearchContext,
  search,
} from '../../explorer/search.ts';
import { parseOwner } from '../../routes/ownerAddress.ts';
import { decodePercent } from '../answers/routeAnswers.ts';

/** A miner’s number in an address. */
export const minerId = /^[1-9]\d{0,3}$/;

/** ID that each kind of record has in the path, and the sentence for any other. */
const ids: Readonly<Record<RecordView, { readonly pattern: RegExp; readonly meaning: string }>> = {
  miner: { pattern: minerId, meaning: 'A miner has a number from 1 to 9999.' },
  round: { pattern: /^[1-9]\d{0,14}$/, meaning: 'Rounds are numbered from 1.' },
  block: { pattern: /^[1-9]\d{0,14}$/, meaning: 'Blocks are numbered from 1.' },
  settlement: {
    pattern: /^0x[0-9a-f]{64}$/,
    meaning: 'A transaction has 0x, then 64 digits from 0 to 9 and a to f.',
  },
  event: { pattern: /^(?:chain|measurement):.{1,500}$/, meaning: 'An event has an ID as in the feed.' },
};
const recordViews = Object.keys(ids) as RecordView[]; // The keys that the type above lists.

/**
 * Returns the place of a requested page, or the path to which a search or an unusual way to write an address leads.
 *
 * @param readContext called for a search only, since it reads a body.
 */
export function findPlace(path: string, query: string, readContext: () => SearchContext): Place | string {
  const [, first = '', second = ''] = path.split('/');
  if (first === 'search') {
    const text = new URLSearchParams(query).get('q') ?? '';
    const found = search(text, readContext());
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
  const view = id === '' ? undefined : recordViews.find((one) => `${one}s` === first);
  if (view === undefined) return parsePlace(path, query);
  const { pattern, meaning } = ids[view];
  const written = view === 'settlement' ? normalizeHex(id) : id;
  if (!pattern.test(written)) return describeMissing(meaning);
  return written === id ? { view, id } : `/${first}/${written}`;
}
