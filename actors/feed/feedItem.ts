import { List } from 'immutable';
import { z } from 'zod';
import { type Arrival, compareArrivals } from '../events/arrival.ts';
import { type ChainFeedEvent, eventTypes, type MeasurementEvent } from '../events/eventSchemas.ts';
import { type EventWindow, nothingEvicted } from '../events/eventWindow.ts';
import { buildMeasurementId } from '../wheel/measurementEvents.ts';
import { decodeFields, encodeFields } from './opaqueCursor.ts';

export interface FeedSources {
  readonly measurement: EventWindow<MeasurementEvent>;
  readonly chain: EventWindow<ChainFeedEvent>;
}
export type FeedSource = keyof FeedSources;
export const feedSources = ['measurement', 'chain'] as const satisfies readonly FeedSource[];
export const nothingMeasured: FeedSources['measurement'] = { events: List(), evicted: nothingEvicted };

/** The first part of a type's name decides its category. */
const categories = { system: 'protocol', player: 'players', measurement: 'measurement' } as const;

export const feedCategories = ['all', ...Object.values(categories)] as const;
export type FeedCategory = (typeof feedCategories)[number];

/** Each event has one of these categories. Stored events are sorted by it. */
export type StoredCategory = Exclude<FeedCategory, 'all'>;

export type FeedType = (typeof eventTypes)[number];

/** Category of each type. `measurement.rpm_record` of the contract is missing, since it is never emitted. */
export const feedTypes = Object.fromEntries(
  eventTypes.map((type) => [type, categories[type.split('.')[0] as keyof typeof categories]]),
) as Readonly<Record<FeedType, StoredCategory>>;

export function isOfCategory(category: FeedCategory, type: FeedType): boolean {
  return category === 'all' || feedTypes[type] === category;
}

const sourceCategories: Readonly<Record<FeedSource, readonly StoredCategory[]>> = {
  measurement: ['measurement'],
  chain: ['protocol', 'players'],
};

export function listStoredCategories(category: FeedCategory, source: FeedSource): readonly StoredCategory[] {
  return sourceCategories[source].filter((one) => category === 'all' || category === one);
}

export interface FeedItem extends Arrival {
  readonly id: string;
  readonly type: FeedType;
  readonly source: FeedSource;
  /** The feed's sort key (epoch milliseconds). */
  readonly recordedAtMs: number;
  /** When the event became visible (epoch milliseconds): when the stream stored the message of its {@link Arrival}. */
  readonly arrivedAtMs: number;
  readonly event: ChainFeedEvent | MeasurementEvent;
}

export type FeedPlace = Pick<FeedItem, 'recordedAtMs' | 'source' | keyof Arrival>;

/**
 * Negative when `one` is shown before `other` (CONTRACT.md, Feed order). Later recorded events come first; at the same time, chain events
 * before measurements, and later arrivals of one source before earlier ones.
 */
export function compareShown(one: FeedPlace, other: FeedPlace): number {
  if (one.recordedAtMs !== other.recordedAtMs) return other.recordedAtMs - one.recordedAtMs;
  if (one.source !== other.source) return one.source === 'chain' ? -1 : 1;
  return compareArrivals(other, one);
}

export function toChainItem(chainId: bigint, event: ChainFeedEvent): FeedItem {
  const { details, address, source, recordedAtMs, position, ordinal } = event;
  const { type } = details;
  const id = `chain:${chainId}:${address}:${source.transactionHash}:${source.logIndex}:${type}`;
  return { id, type, source: 'chain', recordedAtMs, arrivedAtMs: recordedAtMs, position, ordinal, event };
}

export function toMeasurementItem(event: MeasurementEvent): FeedItem {
  const { achievement, installationId, receivedAtMs, arrivedAtMs, position, ordinal } = event;
  return {
    id: buildMeasurementId(installationId, achievement),
    type: achievement.type,
    source: 'measurement',
    recordedAtMs: receivedAtMs,
    arrivedAtMs,
    position,
    ordinal,
    event,
  };
}

/** Hash of the transaction that the ID of a chain event names; null for any other text. */
export function findTransactionHash(eventId: string): string | null {
  return /^chain:\d+:0x[0-9a-f]{40}:(0x[0-9a-f]{64}):/.exec(eventId)?.[1] ?? null;
}

/** Cursor of a category's next page, which begins after this place even if events have arrived before it since. */
export function encodeFeedCursor(category: FeedCategory, place: FeedPlace): string {
  const { recordedAtMs, source, position, ordinal } = place;
  return encodeFields([category, recordedAtMs, source, position, ordinal]);
}

const cursorFields = z.tuple([z.enum(feedCategories), z.int(), z.enum(feedSources), z.int(), z.int()]);

/** Null for an invalid cursor or another category's cursor. */
export function decodeFeedCursor(category: FeedCategory, text: string): FeedPlace | null {
  const fields = decodeFields(text, cursorFields);
  if (fields === null || fields[0] !== category) return null;
  const [, recordedAtMs, source, position, ordinal] = fields;
  return { recordedAtMs, source, position, ordinal };
}
