import { parse, stringify } from '../bigintJson.ts';
import type { ChainFeedEvent } from '../chain/spans/chainFeedEvent.ts';
import { chainFeedEvent, measurementEvent } from '../events/eventSchemas.ts';
import { compileGuard } from '../schemas/compileGuard.ts';
import type { EventRow } from '../storedRows.ts';
import type { MeasurementEvent } from '../wheel/measurementEvents.ts';
import { feedTypes } from './feedCategories.ts';
import { type FeedItem, toChainItem, toMeasurementItem } from './feedItem.ts';

const isChainEvent = compileGuard(chainFeedEvent);
const isMeasurementEvent = compileGuard(measurementEvent);

/** @param run of the fold that evicted the event. */
export function toMeasurementRow(event: MeasurementEvent, run: string): EventRow {
  return toRow(toMeasurementItem(event), event.installationId, run);
}

/** @param run as for a measurement. */
export function toChainRow(
  event: ChainFeedEvent,
  { chainId, run }: { readonly chainId: bigint; readonly run: string },
): EventRow {
  return toRow(toChainItem(chainId, event), '', run);
}

/**
 * The event of a row that one of the functions above has made.
 *
 * @throws Error for any other row.
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

function toRow(item: FeedItem, installationId: string, run: string): EventRow {
  const { id, type, recordedAtMs, arrivedAtMs, position, ordinal, event } = item;
  return {
    run,
    category: feedTypes[type],
    position,
    ordinal,
    installationId,
    id,
    type,
    recordedAtMs,
    arrivedAtMs,
    event: stringify(event),
  };
}
