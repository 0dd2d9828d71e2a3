import { parse, stringify } from '../bigintJson.ts';
import type { ChainFeedEvent } from '../chain/chainState.ts';
import type { EventRow } from '../storedRows.ts';
import { type FeedItem, toChainItem, toMeasurementItem } from '../views/feedIndex.ts';
import { type FeedType, feedTypes } from './feedCategories.ts';
import type { MeasurementEvent } from './measurementEvents.ts';

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

/** The event of a row that one of the functions above has made. */
export function toFeedItem(row: EventRow): FeedItem {
  const { id, type, recordedAtMs, arrivedAtMs, position, ordinal } = row;
  const event = parse(row.event) as FeedItem['event'];
  return {
    id,
    type: type as FeedType,
    source: event.family,
    recordedAtMs,
    arrivedAtMs,
    position,
    ordinal,
    event,
  };
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
