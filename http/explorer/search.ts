import { formatInteger } from './format/numbers.ts';
import { months } from './format/times.ts';
import { formatPlace, type Place } from './place.ts';
import { roundMs } from './rounds.ts';

type Missing = Extract<Place, { readonly view: 'missing' }>;

export interface SearchContext {
  readonly nowMs: number;
  /** Start of round 1 in epoch milliseconds; null while the core contract is unknown. */
  readonly genesisMs: number | null;
}

const dayMs = 86_400_000;
const statisticsDays = 30;
const lastMiner = 9_999;
const date = new RegExp(`^\\d{4}-\\d\\d-(\\d\\d)$|^(\\d{1,2}) (?:${months.join('|')})[a-z]* \\d{4}$`, 'i');

/** Returns the path of the page that a visitor's text asks for, or what to answer if no page or several pages fit. */
export function search(query: string, context: SearchContext): string | Missing {
  // 1,234 is a number, and so is #1234.
  const text = query.trim().replace(/(?<=\d),(?=\d{3})/g, '');
  const [, isoDay, day = isoDay] = date.exec(text) ?? [];
  if (day !== undefined) {
    const atMs = Date.parse(`${text} UTC`);
    // 30 Feb would be 2 Mar.
    if (new Date(atMs).getUTCDate() !== Number(day)) return describeMissing('There is no such date.');
    return findDay(atMs, context);
  }
  const hex = normalizeHex(text);
  if (/^0x[0-9a-f]{64}$/.test(hex)) return `/settlements/${hex}`;
  if (/^0x/.test(hex)) return `/owners/${encodeURIComponent(hex)}`;
  if (/^(?:chain|measurement):/.test(text)) return formatPlace({ view: 'event', id: text });
  const [, kind, number] = /^(?:(miner|token|round|block|#)\s*)?#?(\d{1,18})$/i.exec(text) ?? [];
  if (number === undefined)
    return describeMissing(
      'This is not something that can be found. Search for the address of an owner (0x and 40 digits), a transaction (0x and 64 digits), a miner, round or block by its number, or a date such as 2026-11-22.',
    );
  const id = String(BigInt(number));
  const miner: Place = { view: 'miner', id };
  switch (kind?.toLowerCase()) {
    case 'round':
    case 'block':
      return `/${kind?.toLowerCase()}s/${id}`;
    case undefined: {
      const others: Place[] = [
        { view: 'round', id },
        { view: 'block', id },
      ];
      const all = Number(id) <= lastMiner ? [miner, ...others] : others;
      return describeMissing(`The number ${formatInteger(id)} may stand for one of these.`, all);
    }
    default:
      return formatPlace(miner);
  }
}

/** A day of the last month leads to the statistics, and an earlier day to its first round. */
function findDay(atMs: number, { nowMs, genesisMs }: SearchContext): string | Missing {
  // A universal day begins at noon.
  const startMs = atMs + dayMs / 2;
  if (startMs > nowMs) return describeMissing('This day is still to come.');
  if (nowMs - startMs < statisticsDays * dayMs)
    return `/statistics?range=30d#${new Date(atMs).toISOString().slice(0, 10)}`;
  if (genesisMs === null || startMs < genesisMs) return describeMissing('Nothing is known of this day.');
  return `/rounds/${Math.floor((startMs - genesisMs) / roundMs) + 1}`;
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
