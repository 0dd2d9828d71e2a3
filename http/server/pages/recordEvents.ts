import { encodeFeedCursor } from '../../../actors/views/feed/feedCursor.ts';
import type {
  FeedCategory,
  FeedItem,
  FeedPage,
  FeedRequest,
  FeedViews,
} from '../../../actors/views/feed/feedViews.ts';
import { findDaySpan } from '../../explorer/days.ts';
import { type FeedEvent, searchedEventsMax, transactionEventsMax } from '../../explorer/page.ts';
import type { RecordView } from '../../explorer/place.ts';
import { feedEvent, toFeedEventBody } from '../../responses/feed/feedEvent.ts';

const eventsPerPage = 100;
/** Pages that are read for one record. */
const pagesReadMax = searchedEventsMax / eventsPerPage;
/** Events that are read to learn which numbers a time has: the first of them may be of another kind. */
const eventsPerProbe = 10;
/** How exactly the time of a record is searched for before pages are read: about 20 probes. */
const probedMs = 600_000;
/** A reading that is received later than this after its day is not looked for. */
const lateMs = 86_400_000;
/** Why a page cannot say which events there are. */
const unreadable = 'the feed cannot be read at the moment';

/** Numbers of rounds or blocks that an event is about: after the first, through the second. Null if it is about none. */
type FindSpan = (item: FeedItem) => readonly [after: bigint, through: bigint] | null;

const settledRounds: FindSpan = ({ event }) =>
  event.family === 'chain' && event.details.type === 'system.settlement_completed'
    ? [event.details.previousSettledThroughRound, event.details.settledThroughRound]
    : null;
const mintedRounds: FindSpan = ({ event }) =>
  event.family === 'chain' && event.details.type === 'system.mining_checkpointed'
    ? [event.details.afterRound, event.details.throughRound]
    : null;
const completedBlocks: FindSpan = ({ event }) => {
  if (event.family !== 'chain' || event.details.type !== 'system.settlement_completed') return null;
  const { blockHeight, completedBlockCount } = event.details;
  return [blockHeight - completedBlockCount, blockHeight];
};
const chainBlock: FindSpan = ({ event }) =>
  event.family === 'chain' ? [event.source.blockNumber - 1n, event.source.blockNumber] : null;

/** Where records with a number are searched for, newest first. */
const spans: Readonly<
  Record<'round' | 'block' | 'ethereum-block', readonly (readonly [FeedCategory, FindSpan])[]>
> = {
  round: [
    ['protocol', mintedRounds],
    ['protocol', settledRounds],
  ],
  block: [['protocol', completedBlocks]],
  'ethereum-block': [
    ['protocol', chainBlock],
    ['players', chainBlock],
  ],
};

/** Returns the events of a record, newest first, and of a transaction in the order of the chain; null if they cannot be read at the moment. */
type FindRecordEvents = (
  view: RecordView,
  id: string,
  signal: AbortSignal,
) => Promise<readonly FeedEvent[] | null>;

/**
 * Finds events in the feed. Records with a number are found in all of the history, since later events have higher numbers.
 *
 * @param hasViews false until state is restored.
 */
export function createRecordEvents(feed: FeedViews, hasViews: () => boolean): FindRecordEvents {
  async function readPage(request: FeedRequest, signal: AbortSignal): Promise<FeedPage> {
    const page = hasViews() ? await feed.page(request, signal) : null;
    if (page === null || 'fault' in page || page.status === 'unavailable') throw new Error(unreadable);
    return page;
  }

  /**
   * Reads pages below a cursor.
   *
   * @param isBefore whether an item, and so all older ones, come before the record.
   */
  async function collect(
    { category, cursor }: Pick<FeedRequest, 'category' | 'cursor'>,
    matches: (item: FeedItem) => boolean,
    isBefore: (item: FeedItem) => boolean,
    signal: AbortSignal,
  ): Promise<FeedEvent[]> {
    const found: FeedEvent[] = [];
    let from = cursor;
    for (let count = 0; count < pagesReadMax; count++) {
      const page = await readPage({ category, cursor: from, limit: eventsPerPage }, signal);
      for (const item of page.events)
        if (matches(item)) found.push(feedEvent.parse(toFeedEventBody(item, page)));
      if (page.nextCursor === null || page.events.some(isBefore)) break;
      from = page.nextCursor;
    }
    return found;
  }

  async function findSpan(category: FeedCategory, span: FindSpan, number: bigint, signal: AbortSignal) {
    let cursor: string | null = null;
    const newest = await readPage({ category, cursor, limit: 1 }, signal);
    // Every event that was recorded after the later time has a higher number.
    let [earlierMs, laterMs] = [0, newest.events[0]?.recordedAtMs ?? 0];
    while (laterMs - earlierMs > probedMs) {
      const recordedAtMs = Math.floor((earlierMs + laterMs) / 2);
      const last = Number.MAX_SAFE_INTEGER;
      const probe = encodeFeedCursor(category, {
        recordedAtMs,
        source: 'chain',
        position: last,
        ordinal: last,
      });
      const { events } = await readPage({ category, cursor: probe, limit: eventsPerProbe }, signal);
      const found = events.map(span).find((one) => one !== null) ?? null;
      if (found !== null && found[0] >= number) [laterMs, cursor] = [recordedAtMs, probe];
      else earlierMs = recordedAtMs;
    }
    const matches = (item: FeedItem) => {
      const [after, through] = span(item) ?? [number, number];
      return after < number && number <= through;
    };
    const isBefore = (item: FeedItem) => (span(item)?.[1] ?? number) < number;
    return collect({ category, cursor }, matches, isBefore, signal);
  }

  async function findById(id: string, signal: AbortSignal): Promise<FeedEvent[]> {
    const position = hasViews() ? await feed.locate(id, signal) : 'unavailable';
    if (position === null) return [];
    if (position === 'unavailable') throw new Error(unreadable);
    const source = id.startsWith('chain:') ? 'chain' : 'measurement';
    const category = source === 'measurement' ? source : id.includes(':player.') ? 'players' : 'protocol';
    const at = position[source];
    // The position is after the event.
    const before = { ...position, [source]: { ...at, ordinal: at.ordinal - 1 } };
    const news = feed.after(category, before, 1);
    const read = typeof news === 'function' ? await news(signal) : news;
    if (read === null) throw new Error(unreadable);
    return read.items
      .filter(({ item }) => item.id === id)
      .map(({ item }) => feedEvent.parse(toFeedEventBody(item, read.context)));
  }

  async function findOfTransaction(hash: string, signal: AbortSignal): Promise<FeedEvent[]> {
    const found = hasViews() ? await feed.ofTransaction(hash, transactionEventsMax, signal) : null;
    if (found === null) throw new Error(unreadable);
    return found.events.map((item) => feedEvent.parse(toFeedEventBody(item, found)));
  }

  /** The newest events of a miner, and its mint and merges however old they are. */
  async function findOfMiner(id: string, signal: AbortSignal): Promise<FeedEvent[]> {
    const tokenId = BigInt(id);
    const [newest, ofMiner] = await Promise.all([
      collect(
        { category: 'players', cursor: null },
        (item) => listMiners(item).includes(tokenId),
        () => false,
        signal,
      ),
      hasViews() ? feed.ofMiner(tokenId, signal) : null,
    ]);
    if (ofMiner === null) throw new Error(unreadable);
    const known = new Set(newest.map((event) => event.id));
    const older = ofMiner.events.filter((item) => !known.has(item.id)).reverse();
    return [...newest, ...older.map((item) => feedEvent.parse(toFeedEventBody(item, ofMiner)))];
  }

  /** The wheel's milestones and records of a universal day, by the device's clock. */
  async function findOfDay(date: string, signal: AbortSignal): Promise<FeedEvent[]> {
    const category = 'measurement';
    const newest = hasViews() ? await feed.page({ category, cursor: null, limit: 1 }, signal) : null;
    // A day has figures without a chain, and without events.
    if (newest !== null && 'status' in newest && newest.status === 'unavailable') return [];
    const [startMs, endMs] = findDaySpan(date);
    const last = Number.MAX_SAFE_INTEGER;
    const cursor = encodeFeedCursor(category, {
      recordedAtMs: endMs + lateMs,
      source: 'chain',
      position: last,
      ordinal: last,
    });
    return collect(
      { category, cursor },
      ({ event }) =>
        event.family === 'measurement' && event.observedAtMs >= startMs && event.observedAtMs < endMs,
      ({ recordedAtMs }) => recordedAtMs < startMs,
      signal,
    );
  }

  async function find(view: RecordView, id: string, signal: AbortSignal): Promise<readonly FeedEvent[]> {
    switch (view) {
      case 'event':
        return findById(id, signal);
      case 'transaction':
        return findOfTransaction(id, signal);
      case 'day':
        return findOfDay(id, signal);
      case 'miner':
        return findOfMiner(id, signal);
      default: {
        const found = spans[view].map(([category, span]) => findSpan(category, span, BigInt(id), signal));
        return (await Promise.all(found)).flat();
      }
    }
  }

  return (view, id, signal) => find(view, id, signal).catch(() => null);
}

function listMiners({ event }: FeedItem): readonly bigint[] {
  if (event.family !== 'chain') return [];
  const { details } = event;
  switch (details.type) {
    case 'player.miner_minted':
      return [details.tokenId];
    case 'player.miners_merged':
      return [details.survivorTokenId, details.donorTokenId];
    case 'player.rewards_claimed':
      return details.tokenIds;
    default:
      return [];
  }
}
