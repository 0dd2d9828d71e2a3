/** A message of a stream. */
export interface StoredMessage {
  readonly seq: number;
  readonly subject: string;
  readonly data: Uint8Array | string;
  /** When the stream stored it (epoch milliseconds). */
  readonly storedAtMs: number;
}

/** Called with each rejected message and its reason (MESSAGES.md, Rejections). */
export type OnRejected = (message: StoredMessage, reason: string) => void;
export const ignoreRejected: OnRejected = () => undefined;

export type Json = Record<string, unknown>;

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
export const roundMs = 10 * minuteMs;
export const uint64Max = 2n ** 64n - 1n;
export const uint256Max = 2n ** 256n - 1n;

/** The payload as a JSON object; null if it is not UTF-8 JSON within the limit of bytes (MESSAGES.md, Common rules). */
export function parsePayload({ data }: StoredMessage, bytesMax: number): Json | null {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
  if (bytes.length > bytesMax) return null;
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return isObject(value) && isEncodable(value) ? value : null;
  } catch {
    return null;
  }
}

/** Whether a time (epoch milliseconds) is more than 300 s after the stream stored the message (MESSAGES.md, Common rules). */
export const isFuture = ({ storedAtMs }: StoredMessage, timesMs: readonly (number | bigint)[]) =>
  timesMs.some((timeMs) => timeMs > storedAtMs + 300_000);

/** Whether every text and key is made of whole characters. */
function isEncodable(value: unknown): boolean {
  if (typeof value === 'string') return Buffer.from(value).toString() === value;
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).flat().every(isEncodable);
}

/** Messages below a subject, with the rest of the subject as IDs: an ID's `.` is sent as `~` (MESSAGES.md, Streams). */
export function readSubject(subject: string, prefix: string): string[] | null {
  if (!subject.startsWith(`${prefix}.`)) return null;
  return subject
    .slice(prefix.length + 1)
    .split('.')
    .map((token) => token.replaceAll('~', '.'));
}

// Scalars (MESSAGES.md, Common rules).

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const isText = (value: unknown, most: number, least = 1): value is string =>
  typeof value === 'string' && value.length >= least && value.length <= most;
export const isInteger = (value: unknown, least = 0, most = Number.MAX_SAFE_INTEGER) =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
export const isDecimal = (value: unknown, most = uint256Max): value is string =>
  typeof value === 'string' && /^(?:0|[1-9][0-9]{0,77})$/.test(value) && BigInt(value) <= most;
export const isUuid = (value: unknown): value is string =>
  typeof value === 'string' && /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(value);
export const isId = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z0-9._:-]{1,128}$/.test(value);
export const isTime = (value: unknown): value is string => {
  if (typeof value !== 'string') return false;
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(value)) return false;
  const timeMs = Date.parse(value);
  // The thirtieth of February would be a day in March.
  return !Number.isNaN(timeMs) && new Date(timeMs).toISOString().startsWith(value.slice(0, 10));
};
export const isOneOf = (value: unknown, values: readonly string[]) => values.includes(value as string);

export const provenances = ['hardware', 'simulated', 'replay', 'derived'];

/** A time as responses show it; contract times beyond the year 9999 as its last millisecond. */
export const toIso = (timeMs: number) =>
  new Date(Math.min(timeMs, Date.UTC(9999, 11, 31, 23, 59, 59, 999))).toISOString();
export const toDate = (timeMs: number) => toIso(timeMs).slice(0, 10);

export const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n);
const ascending = (values: readonly bigint[]) => [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));

/** A share in basis points, rounded down; 0 for an empty total. */
export const toBps = (part: number, total: number) => (total === 0 ? 0 : Math.floor((part * 10_000) / total));

/** The middle number, or the floored mean of the middle two (CONTRACT.md, Terms of the statistics). */
export function findMedian(values: readonly bigint[]): bigint | null {
  const sorted = ascending(values);
  if (sorted.length === 0) return null;
  const below = sorted[Math.ceil(sorted.length / 2) - 1] as bigint;
  const above = sorted[Math.floor(sorted.length / 2)] as bigint;
  return (below + above) / 2n;
}

/** The nearest rank: the element at ceil(0.9 · n). */
export const findP90 = (values: readonly bigint[]): bigint | null =>
  ascending(values)[Math.ceil((values.length * 9) / 10) - 1] ?? null;

/** The first largest item, if it is above zero. */
export function findLargest<Item>(items: readonly Item[], read: (item: Item) => bigint): Item | null {
  let largest: Item | null = null;
  for (const item of items) if (read(item) > (largest === null ? 0n : read(largest))) largest = item;
  return largest;
}
