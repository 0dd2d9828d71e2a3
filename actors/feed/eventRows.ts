import { parse, stringify } from '../bigintJson.ts';
import type { StoredBy } from '../chain/rows/rowOrigin.ts';
import type { ChainFeedEvent, MeasurementEvent } from '../events/eventSchemas.ts';
import { chainFeedEvent, measurementEvent } from '../events/eventSchemas.ts';
import { compileGuard } from '../schemas/compileSchema.ts';
import { feedTypes, type StoredCategory } from './feedCategories.ts';
import { type FeedItem, toChainItem, toMeasurementItem } from './feedItem.ts';

const isChainEvent = compileGuard(chainFeedEvent);
const isMeasurementEvent = compileGuard(measurementEvent);

export interface EventRow extends Omit<FeedItem, 'type' | 'source' | 'event'> {
  readonly category: StoredCategory;
  /** Empty for an event of the chain. */
  readonly installationId: string;
  readonly type: string;
  readonly event: string;
}

export interface MeasurementEventRow extends EventRow {
  /** Run of the fold that made the event (`actors/events/eventWindow.ts`). */
  readonly run: string;
}

export interface ChainEventRow extends EventRow, StoredBy {}

/** @param run of the fold that evicted the event. */
export function toMeasurementRow(event: MeasurementEvent, run: string): MeasurementEventRow {
  return { ...toRow(toMeasurementItem(event), event.installationId), run };
}

export function toChainRow(
  event: ChainFeedEvent,
  { chainId, ...origin }: StoredBy & { readonly chainId: bigint },
): ChainEventRow {
  return { ...toRow(toChainItem(chainId, event), ''), ...origin };
}

/**
 * Converts a stored row back to its event.
 *
 * @throws Error if this program does not store such events.
 */
export function toFeedItem(row: EventRow): FeedItem {
  const { id, recordedAtMs, arrivedAtMs, position, ordinal } = row;
  const place = { id, recordedAtMs, arrivedAtMs, position, ordinal };
  const event = parse(row.event);
  if (isChainEvent(event)) return { ...place, type: event.details.type, source: 'chain', event };
  if (isMeasurementEvent(event))
    return { ...place, type: event.achievement.type, source: 'measurement', event };
  throw new Error(`the stored event ${id} is not one that this program stores`);
}

function toRow(item: FeedItem, installationId: string): EventRow {
  const { source: _source, event, ...place } = item;
  return { ...place, category: feedTypes[item.type], installationId, event: stringify(event) };
}
