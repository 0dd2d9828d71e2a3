import {
  type ChainFeedEvent,
  chainFeedEvent,
  type MeasurementEvent,
  measurementEvent,
} from '../events/eventSchemas.ts';
import { parse, stringify } from '../folds/bigintJson.ts';
import { compileGuard } from '../schemas/compileSchema.ts';
import { listEventKeys } from './eventKeys.ts';
import { type FeedItem, feedTypes, type StoredCategory, toChainItem, toMeasurementItem } from './feedItem.ts';

const isChainEvent = compileGuard(chainFeedEvent);
const isMeasurementEvent = compileGuard(measurementEvent);

/** The message whose folding made a row. It may be much later than the message that the row is about. */
export interface StoredBy {
  /** Its sequence in the stream. */
  readonly storedBy: number;
}

export interface EventRow extends Omit<FeedItem, 'type' | 'source' | 'event'>, StoredBy {
  readonly category: StoredCategory;
  /** Empty for an event of the chain. */
  readonly installationId: string;
  readonly type: string;
  readonly event: string;
}

/** An event, and the keys that it is found by. */
export interface KeyedEventRow extends EventRow {
  readonly keys: readonly string[];
}

export function toMeasurementRow(event: MeasurementEvent, { storedBy }: StoredBy): KeyedEventRow {
  return toRow(toMeasurementItem(event), event.installationId, storedBy);
}

export function toChainRow(
  event: ChainFeedEvent,
  { chainId, storedBy }: StoredBy & { readonly chainId: bigint },
): KeyedEventRow {
  return toRow(toChainItem(chainId, event), '', storedBy);
}

/**
 * Converts a stored row back to its event.
 *
 * @throws Error if this program does not store such events.
 */
export function toFeedItem(row: Omit<EventRow, 'storedBy'>): FeedItem {
  const { id, recordedAtMs, arrivedAtMs, position, ordinal } = row;
  const place = { id, recordedAtMs, arrivedAtMs, position, ordinal };
  const event = parse(row.event);
  if (isChainEvent(event)) return { ...place, type: event.details.type, source: 'chain', event };
  if (isMeasurementEvent(event))
    return { ...place, type: event.achievement.type, source: 'measurement', event };
  throw new Error(`the stored event ${id} is not one that this program stores`);
}

function toRow(item: FeedItem, installationId: string, storedBy: number): KeyedEventRow {
  const { source: _source, event, ...place } = item;
  const category = feedTypes[item.type];
  return { ...place, category, installationId, event: stringify(event), keys: listEventKeys(item), storedBy };
}
