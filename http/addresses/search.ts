import { roundMs } from '../../actors/wheel/roundFold.ts';
import { addDays, findDay, findDaySpan, formatDate, months, parseDate } from './days.ts';
import { formatPlace, type Place } from './place.ts';
import { minerPath, transactionPath } from './recordPaths.ts';
import { terms, toAnchor } from './terms.ts';

type Missing = Extract<Place, { readonly view: 'missing' }>;

/** The records that exist now. A member is null while it is unknown. */
export interface Known {
  readonly nowMs: number;
  /** Start of round 1 in epoch milliseconds. */
  readonly genesisMs: number | null;
  /** The first universal day that is shown. */
  readonly firstDay: string | null;
  /** Whether a miner is there, or may have been merged into another one. True while that is unknown. */
  readonly mayBeMiner: (id: string) => boolean;
}

const month = `(${months.join('|')})[a-z]*\\.?`;
const isoDate = /^(\d{4})-(\d\d?)-(\d\d?)$/;
const dottedDate = /^(\d\d?)\.\s?(\d\d?)\.\s?(\d{4})?$/;
const dayFirst = new RegExp(`^(\\d\\d?)(?:st|nd|rd|th|\\.)? ${month},?(?: (\\d{4}))?$`, 'i');
const monthFirst = new RegExp(`^${month} (\\d\\d?)(?:st|nd|rd|th)?,?(?: (\\d{4}))?$`, 'i');

/** Returns the path of the page that a visitor's text asks for, or what to answer if no page or several pages fit. */
export function search(query: string, known: Known): string | Missing {
  // 1,234 is a number, and so is #1234.
  const text = query
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/(?<=\d),(?=\d{3}(?!\d))/g, '');
  const day = readDay(text, known.nowMs);
  if (day === 'none') return describeMissing('There is no such date.');
  if (day !== null) return describeUnknownDay(day, known) ?? formatPlace({ view: 'day', id: day });
  const term = terms.find(({ name }) => name === text.toLowerCase());
  if (term !== undefined) return `/about#${toAnchor(term)}`;
  const hex = normalizeHex(text);
  if (transactionPath.parse(hex) !== null) return formatPlace({ view: 'transaction', id: hex });
  if (/^0x/.test(hex)) return `/owners/${encodeURIComponent(hex)}`;
  if (/^(?:chain|measurement):/.test(text)) return `/events/${encodeURIComponent(text)}`;
  const [, kind, number] = /^(?:(miner|token|round|#)\s*)?#?(\d{1,18})$/i.exec(text) ?? [];
  if (number === undefined)
    return describeMissing(
      'Nothing found. Search for the address of an owner (0x and 40 digits), a transaction (0x and 64 digits), a miner or round by its number, a day such as 2026-11-22, 22 Nov or yesterday, or a word such as optimistic.',
    );
  const id = String(BigInt(number));
  if (kind !== undefined)
    return formatPlace({ view: kind.toLowerCase() === 'round' ? 'round' : 'miner', id });
  const places = [...listMiners(id, known), ...listRounds(id, known)];
  const [first] = places;
  if (first === undefined)
    return describeMissing(
      `There is no miner or round with the number ${BigInt(id).toLocaleString('en')} yet.`,
    );
  if (places.length < 2) return formatPlace(first);
  return describeMissing(`The number ${BigInt(id).toLocaleString('en')} may stand for one of these.`, places);
}

function listMiners(id: string, { mayBeMiner }: Known): Place[] {
  return minerPath.parse(id) !== null && mayBeMiner(id) ? [{ view: 'miner', id }] : [];
}

function listRounds(id: string, { nowMs, genesisMs }: Known): Place[] {
  const latest = genesisMs === null ? null : Math.floor((nowMs - genesisMs) / roundMs) + 1;
  return Number(id) > 0 && (latest === null || Number(id) <= latest) ? [{ view: 'round', id }] : [];
}

/** The universal day that a text names; `none` for a date that is not in the calendar, null for any other text. */
function readDay(text: string, nowMs: number): string | 'none' | null {
  const today = findDay(nowMs);
  if (/^today$/i.test(text)) return today;
  if (/^yesterday$/i.test(text)) return addDays(today, -1);
  const read = (day = '', monthOrName = '', year?: string) => {
    const index = months.findIndex((name) => monthOrName.toLowerCase().startsWith(name.toLowerCase()));
    const number = index === -1 ? Number(monthOrName) : index + 1;
    if (year !== undefined) return parseDate(Number(year), number, Number(day)) ?? 'none';
    // Without a year it is the last one.
    const thisYear = Number(today.slice(0, 4));
    const dates = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((ago) => parseDate(thisYear - ago, number, Number(day)));
    return dates.find((date) => date !== null && date <= today) ?? 'none';
  };
  const iso = isoDate.exec(text);
  if (iso !== null) return read(iso[3], iso[2], iso[1]);
  const byDay = dottedDate.exec(text) ?? dayFirst.exec(text);
  if (byDay !== null) return read(byDay[1], byDay[2], byDay[3]);
  const byMonth = monthFirst.exec(text);
  return byMonth === null ? null : read(byMonth[2], byMonth[1], byMonth[3]);
}

/** Why nothing can be known of a day; null if something may be. */
export function describeUnknownDay(
  date: string,
  { nowMs, firstDay }: Pick<Known, 'nowMs' | 'firstDay'>,
): Missing | null {
  if (findDaySpan(date)[0] > nowMs)
    return describeMissing('This day is still to come. A universal day begins at noon UTC.');
  if (firstDay !== null && date < firstDay)
    return describeMissing(
      `Nothing is known of ${formatDate(date)}. The first day that is shown is ${formatDate(firstDay)}.`,
      [{ view: 'day', id: firstDay }],
    );
  return null;
}

/**
 * Returns an address or a transaction in its usual form: with `0x`, and in lower case unless capital letters are a checksum. Some programs and
 * codes to scan write all letters as capitals, which is no checksum. In any other text only a capital `X` after the first 0 changes.
 */
export function normalizeHex(text: string): string {
  const [, digits] = /^(?:0x)?([0-9a-f]{40}|[0-9a-f]{64})$/i.exec(text) ?? [];
  if (digits === undefined) return text.replace(/^0X/, '0x');
  const isChecksum = digits.length === 40 && /[a-f]/.test(digits);
  return `0x${isChecksum ? digits : digits.toLowerCase()}`;
}

/**
 * Why a text is not an owner's address, as a sentence.
 *
 * @param text normalized.
 */
export function describeAddress(text: string): Missing {
  const digits = text.replace(/^0x/, '');
  if (!/^0x/.test(text)) return describeMissing('An address begins with 0x.');
  if (!/^[0-9a-fA-F]*$/.test(digits))
    return describeMissing('After 0x, an address has only the digits 0 to 9 and the letters a to f.');
  if (digits.length !== 40)
    return describeMissing(
      `An address has 40 characters after 0x, and a transaction has 64; this has ${digits.length}.`,
    );
  if (/^0+$/.test(digits))
    return describeMissing('Nobody owns the zero address: it stands for nobody where tokens are created.');
  return describeMissing(
    'The checksum is wrong. Capital letters of an address are its checksum, and these do not fit: a character may be mistyped. Copy the address again, or look it up without its checksum if you are sure of every character.',
    [{ view: 'owners', address: text.toLowerCase() }],
  );
}

export function describeMissing(reason: string, others: readonly Place[] = []): Missing {
  return { view: 'missing', reason, others };
}
