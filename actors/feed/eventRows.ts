import { parse, stringify } from '../bigintJson.ts';
import type { ChainFeedEvent, MeasurementEvent } from '../events/eventSchemas.ts';
import { chainFeedEvent, measurementEvent } from '../events/eventSchemas.ts';
import { compileGuard } from '../schemas/compileSchema.ts';
import { feedTypes, type StoredCategory } from './feedCategories.ts';
import { type FeedItem, toChainItem, toMeasurementItem } from './feedItem.ts';
import type { StoredBy } from './storedBy.ts';

const isChainEvent = compileGuard(chainFeedEvent);
const isMeasurementEvent = compileGuard(measurementEvent);

export interface EventRow extends Omit<FeedItem, 'type' | 'source' | 'event'>, StoredBy {
  readonly category: StoredCategory;
  /** Empty for an event of the chain. */
  readonly installationId: string;
  readonly type: string;
  readonly event: string;
}

export function toMeasurementRow(event: MeasurementEvent, { storedBy }: StoredBy): EventRow {
  return toRow(toMeasurementItem(event), event.installationId, storedBy);
}

export function toChainRow(
  event: ChainFeedEvent,
  { chainId, storedBy }: StoredBy & { readonly chainId: bigint },
): EventRow {
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

function toRow(item: FeedItem, installationId: string, storedBy: number): EventRow {
  const { source: _source, event, ...place } = item;
  return { ...place, category: feedTypes[item.type], installationId, event: stringify(event), storedBy };
}
