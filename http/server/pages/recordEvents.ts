import {
  type EventFilter,
  type EventNoun,
  type FeedItem,
  type FeedPage,
  type FeedRequest,
  type FeedType,
  type FeedViews,
  selectCategory,
} from '../../../actors/views/feed/feedViews.ts';
import { findDaySpan } from '../../explorer/days.ts';
import { type FeedEvent, recordEventsMax } from '../../explorer/page.ts';
import type { RecordView } from '../../explorer/place.ts';
import { feedEvent, toFeedEventBody } from '../../responses/feed/feedEvent.ts';

/** Pages that are read for one record. */
const pagesReadMax = 20;
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

/** The types in which records with a number are searched for, newest first. */
const spans: Readonly<Record<'round' | 'block', readonly (readonly [FeedType, FindSpan])[]>> = {
  round: [
    ['system.mining_checkpointed', mintedRounds],
    ['system.settlement_completed', settledRounds],
  ],
  block: [['system.settlement_completed', completedBlocks]],
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
   * Reads the pages of a filter.
   *
   * @param isBefore whether an item, and so all older ones, come before the record.
   */
  async function collect(
    filter: EventFilter,
    matches: (item: FeedItem) => boolean,
    isBefore: (item: FeedItem) => boolean,
    signal: AbortSignal,
  ): Promise<FeedEvent[]> {
    const found: FeedEvent[] = [];
    let cursor: string | null = null;
    for (let count = 0; count < pagesReadMax; count++) {
      const page: FeedPage = await readPage({ filter, cursor, limit: recordEventsMax }, signal);
      for (const item of page.events)
        if (matches(item)) found.push(feedEvent.parse(toFeedEventBody(item, page)));
      if (page.nextCursor === null || page.events.some(isBefore)) break;
      cursor = page.nextCursor;
    }
    return found;
  }

  async function findSpan(type: FeedType, span: FindSpan, number: bigint, signal: AbortSignal) {
    let filter: EventFilter = { ...selectCategory('protocol'), type };
    const newest = await readPage({ filter, cursor: null, limit: 1 }, signal);
    // Every event that was recorded after the later time has a higher number.
    let [earlierMs, laterMs] = [0, newest.events[0]?.recordedAtMs ?? 0];
    while (laterMs - earlierMs > probedMs) {
      const recordedAtMs = Math.floor((earlierMs + laterMs) / 2);
      const probed = { ...filter, toMs: recordedAtMs + 1 };
      const { events } = await readPage({ filter: probed, cursor: null, limit: 1 }, signal);
      const after = events[0] === undefined ? null : (span(events[0])?.[0] ?? null);
      if (after !== null && after >= number) [laterMs, filter] = [recordedAtMs, probed];
      else earlierMs = recordedAtMs;
    }
    const matches = (item: FeedItem) => {
      const [after, through] = span(item) ?? [number, number];
      return after < number && number <= through;
    };
    const isBefore = (item: FeedItem) => (span(item)?.[1] ?? number) < number;
    return collect(filter, matches, isBefore, signal);
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

  /** The newest events of a noun, newest first. */
  async function findOf(noun: EventNoun, signal: AbortSignal): Promise<FeedEvent[]> {
    const filter: EventFilter = { ...selectCategory('all'), nouns: [[noun]] };
    const page = await readPage({ filter, cursor: null, limit: recordEventsMax }, signal);
    return page.events.map((item) => feedEvent.parse(toFeedEventBody(item, page)));
  }

  /** The wheel's milestones and records of a universal day, by the device's clock. */
  async function findOfDay(date: string, signal: AbortSignal): Promise<FeedEvent[]> {
    const [startMs, endMs] = findDaySpan(date);
    const filter = { ...selectCategory('measurement'), fromMs: startMs, toMs: endMs + lateMs };
    const newest = hasViews() ? await feed.page({ filter, cursor: null, limit: 1 }, signal) : null;
    // A day has figures without a chain, and without events.
    if (newest !== null && 'status' in newest && newest.status === 'unavailable') return [];
    return collect(
      filter,
      ({ event }) =>
        event.family === 'measurement' && event.observedAtMs >= startMs && event.observedAtMs < endMs,
      () => false,
      signal,
    );
  }

  async function find(view: RecordView, id: string, signal: AbortSignal): Promise<readonly FeedEvent[]> {
    switch (view) {
      case 'event':
        return findById(id, signal);
      case 'transaction':
        return (await findOf({ kind: 'transaction', hash: id }, signal)).reverse();
      case 'ethereum-block':
        return findOf({ kind: 'ethereumBlock', number: BigInt(id) }, signal);
      case 'day':
        return findOfDay(id, signal);
      case 'miner':
        return findOf({ kind: 'miner', tokenId: BigInt(id) }, signal);
      default: {
        const found = spans[view].map(([type, span]) => findSpan(type, span, BigInt(id), signal));
        return (await Promise.all(found)).flat();
      }
    }
  }

  return (view, id, signal) => find(view, id, signal).catch(() => null);
}
