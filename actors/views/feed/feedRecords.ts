import { type EventFilter, selectCategory } from '../../feed/eventFilter.ts';
import type { EventNoun } from '../../feed/eventKeys.ts';
import { type FeedItem, type FeedType, findTransactionHash } from '../../feed/feedItem.ts';
import { aheadMsMax } from '../../messages/futureTimes.ts';
import { dayMs } from '../../schemas/durations.ts';
import type { EconomyView } from '../chain/coreViews.ts';
import type { FeedPage, FeedRequest, FeedUnavailable, FeedViews } from './feedViews.ts';

/** The part of the feed in which records are found. */
type SearchedFeed = Pick<FeedViews, 'page'>;

/** The events of a record, newest first, with the context that they are shown with. */
export interface FoundEvents extends Omit<EconomyView, 'feed'> {
  readonly events: readonly FeedItem[];
}

/** Newest events that the record of a miner has. */
export const newestEventsMax = 100;
/** Events of a record. Only a transaction or a day could have more. */
export const recordEventsMax = 1_000;
/** Events of each further page. */
const furtherLimit = 100;
/** Events of a first page, so that what memory holds is not read from the store. */
const firstLimit = 20;
/** A reading that is received later than this after its day is not looked for. */
const lateMs = dayMs;

/** Rounds that an event is about: after the first, through the second. Null if it is about none. */
type FindSpan = (item: FeedItem) => readonly [after: bigint, through: bigint] | null;

/** Kinds of events that are about rounds in ascending order, so that later events have higher numbers. */
const spans = {
  settledRounds: {
    type: 'system.settlement_completed',
    find: ({ event }) =>
      event.family === 'chain' && event.details.type === 'system.settlement_completed'
        ? [event.details.previousSettledThroughRound, event.details.settledThroughRound]
        : null,
  },
  mintedRounds: {
    type: 'system.mining_checkpointed',
    find: ({ event }) =>
      event.family === 'chain' && event.details.type === 'system.mining_checkpointed'
        ? [event.details.afterRound, event.details.throughRound]
        : null,
  },
} as const satisfies Record<string, { readonly type: FeedType; readonly find: FindSpan }>;

type SpanKind = keyof typeof spans;

/** Whether an event is about a round. */
export function isAbout(kind: SpanKind, item: FeedItem, round: bigint): boolean {
  const [after, through] = spans[kind].find(item) ?? [round, round];
  return after < round && round <= through;
}

async function readPage(
  feed: SearchedFeed,
  request: FeedRequest,
  signal: AbortSignal,
): Promise<FeedPage | FeedUnavailable> {
  const page = await feed.page(request, signal);
  if ('fault' in page) throw new Error('the feed refuses its own cursor');
  return page;
}

interface CollectOptions {
  readonly eventsMax?: number;
  readonly matches?: (item: FeedItem) => boolean;
  /** Whether an event, and so all older ones, come before what is looked for. */
  readonly isBefore?: (item: FeedItem) => boolean;
}

const always = () => true;
const never = () => false;

/** Reads the events of a filter, newest first. */
async function collect(
  feed: SearchedFeed,
  filter: EventFilter,
  signal: AbortSignal,
  { eventsMax = recordEventsMax, matches = always, isBefore = never }: CollectOptions = {},
): Promise<FoundEvents | FeedUnavailable> {
  const found: FeedItem[] = [];
  let [cursor, limit]: [string | null, number] = [null, firstLimit];
  for (;;) {
    const page: FeedPage | FeedUnavailable = await readPage(feed, { filter, cursor, limit }, signal);
    if (page.status === 'unavailable') return page;
    found.push(...page.events.filter(matches));
    if (page.nextCursor === null || found.length >= eventsMax || page.events.some(isBefore)) {
      const { category: _category, activeEventTypes: _types, nextCursor: _next, ...context } = page;
      return { ...context, events: found.slice(0, eventsMax) };
    }
    [cursor, limit] = [page.nextCursor, furtherLimit];
  }
}

/** Finds the events that are about something, newest first. */
export function findEventsOf(
  feed: SearchedFeed,
  noun: EventNoun,
  signal: AbortSignal,
  eventsMax = recordEventsMax,
): Promise<FoundEvents | FeedUnavailable> {
  return collect(feed, { ...selectCategory('all'), nouns: [[noun]] }, signal, { eventsMax });
}

/** A number that does not fall from one event of a type to the next, such as a round. Events are too late from a limit on. */
interface Ascent {
  readonly find: (item: FeedItem) => number;
  readonly tooLateFrom: number;
}

/** A time of recording (epoch milliseconds), and the number of its event. */
interface Point {
  readonly atMs: number;
  readonly number: number;
}

/**
 * Selects the events of a type of the chain that were recorded until about the newest one that is not too late. Recent events are found among those in
 * memory. For older ones it follows the line through the events that it has read, which takes few reads if numbers rise evenly; every third time it
 * halves the rest, so that the cost grows with the logarithm of the age at most.
 */
async function selectUntil(
  feed: SearchedFeed,
  type: FeedType,
  { find, tooLateFrom }: Ascent,
  signal: AbortSignal,
): Promise<EventFilter | FeedUnavailable> {
  let filter: EventFilter = { ...selectCategory('protocol'), type };
  let probed = filter;
  const isTooLate = (item: FeedItem) => find(item) >= tooLateFrom;
  const toPoint = (item: FeedItem): Point => ({ atMs: item.recordedAtMs, number: find(item) });
  // The events after the later time are too late, those until the earlier one are not.
  let [earlierMs, laterMs] = [0, Number.POSITIVE_INFINITY];
  let line: readonly [older: Point, newer: Point] | null = null;
  for (let turn = 1; ; turn++) {
    const page = await readPage(feed, { filter: probed, cursor: null, limit: firstLimit }, signal);
    if (page.status === 'unavailable') return page;
    const [newest, oldest] = [page.events[0], page.events.at(-1)];
    if (newest !== undefined && oldest !== undefined) line = [toPoint(oldest), toPoint(newest)];
    if (oldest !== undefined && page.events.every(isTooLate)) {
      [laterMs, filter] = [oldest.recordedAtMs, selectThrough(probed, oldest.recordedAtMs)];
      if (page.nextCursor === null) return filter;
    } else if (page.events.some(isTooLate) || probed.toMs === null) return probed;
    else earlierMs = probed.toMs - 1;
    if (laterMs - earlierMs <= 1) return filter;
    const guessMs: number = turn % 3 === 0 || line === null ? Number.NaN : followLine(line, tooLateFrom);
    const isBetween = guessMs > earlierMs && guessMs < laterMs;
    probed = selectThrough(filter, isBetween ? guessMs : Math.floor((earlierMs + laterMs) / 2));
  }
}

/** When the line through two points reaches a number, and half of their distance later, so that a page from there on has events of both sides. */
function followLine([older, newer]: readonly [older: Point, newer: Point], number: number): number {
  const distanceMs = newer.atMs - older.atMs;
  const msPerNumber = distanceMs / (newer.number - older.number);
  return Math.round(newer.atMs - (newer.number - number) * msPerNumber + distanceMs / 2);
}

const selectThrough = (filter: EventFilter, recordedAtMs: number) => ({ ...filter, toMs: recordedAtMs + 1 });

/** Finds the events that are about one of the rounds from the first through the last, newest first, in all of the history. */
export async function findEventsOfSpan(
  feed: SearchedFeed,
  kind: SpanKind,
  [first, last]: readonly [first: bigint, last: bigint],
  signal: AbortSignal,
): Promise<FoundEvents | FeedUnavailable> {
  const { type, find } = spans[kind];
  const ascent = { find: (item: FeedItem) => Number(find(item)?.[0]), tooLateFrom: Number(last) };
  const filter = await selectUntil(feed, type, ascent, signal);
  if ('status' in filter) return filter;
  return collect(feed, filter, signal, {
    matches: (item) => {
      const [after, through] = find(item) ?? [0n, 0n];
      return after < through && after < last && first <= through;
    },
    isBefore: (item) => (find(item)?.[1] ?? first) < first,
  });
}

export interface ChainPageRequest {
  readonly limit: number;
  readonly cursor: string | null;
  /** First time of the events' blocks (epoch milliseconds); null for any. */
  readonly fromMs: number | null;
  /** Time before which the events' blocks are (epoch milliseconds); null for any. */
  readonly toMs: number | null;
}

export type ChainPage = Pick<FeedPage, keyof FoundEvents | 'nextCursor'>;

/** Reads a page of the events of a type of the chain by the times of their blocks, newest first. It may have fewer events than its limit although another one follows. */
export async function readChainPage(
  feed: SearchedFeed,
  type: FeedType,
  { limit, cursor, fromMs, toMs }: ChainPageRequest,
  signal: AbortSignal,
): Promise<ChainPage | FeedUnavailable | { readonly fault: 'undecodable' }> {
  const isTooLate = (item: FeedItem) => toMs !== null && findBlockTime(item) >= toMs;
  const isTooEarly = (item: FeedItem) => fromMs !== null && findBlockTime(item) < fromMs;
  const filter =
    cursor === null && toMs !== null
      ? await selectUntil(feed, type, { find: findBlockTime, tooLateFrom: toMs }, signal)
      : { ...selectCategory('protocol'), type };
  if ('status' in filter) return filter;
  const page = await feed.page({ filter, cursor, limit }, signal);
  if ('fault' in page || page.status === 'unavailable') return page;
  return {
    ...page,
    events: page.events.filter((item) => !isTooLate(item) && !isTooEarly(item)),
    nextCursor: page.events.some(isTooEarly) ? null : page.nextCursor,
  };
}

const findBlockTime = ({ event, recordedAtMs }: FeedItem) =>
  event.family === 'chain' ? event.source.blockTimestampMs : recordedAtMs;

/** Finds the event with an ID; null if none is known. The ID of an event of the chain names its transaction. */
export async function findEvent(
  feed: SearchedFeed,
  id: string,
  signal: AbortSignal,
): Promise<FoundEvents | FeedUnavailable | null> {
  const hash = findTransactionHash(id);
  const noun: EventNoun = hash === null ? { kind: 'achievement', id } : { kind: 'transaction', hash };
  const filter = { ...selectCategory('all'), nouns: [[noun]] };
  const matches = (item: FeedItem) => item.id === id;
  const found = await collect(feed, filter, signal, { eventsMax: 1, matches });
  return found.status === 'available' && found.events.length === 0 ? null : found;
}

/** Finds the wheel's milestones and records that it reached between two times of the device's clock (epoch milliseconds), newest first. */
export function findEventsOfTime(
  feed: SearchedFeed,
  [startMs, endMs]: readonly [startMs: number, endMs: number],
  signal: AbortSignal,
): Promise<FoundEvents | FeedUnavailable> {
  const filter = { ...selectCategory('measurement'), fromMs: startMs - aheadMsMax, toMs: endMs + lateMs };
  return collect(feed, filter, signal, {
    matches: ({ event }) =>
      event.family === 'measurement' && event.observedAtMs >= startMs && event.observedAtMs < endMs,
  });
}
