import { parse, stringify } from '../bigintJson.ts';
import type { ChainFeedEvent } from '../chain/chainState.ts';
import type { EventRow } from '../storedRows.ts';
import { chainItem, type FeedItem, type FeedType, measurementItem } from './feedIndex.ts';
import type { MeasurementEvent } from './measurementEvents.ts';

/** @param position sequence of the message that the event was given up at. */
export function measurementEventRow(event: MeasurementEvent, position: number): EventRow {
  return rowOf(measurementItem(event), event.installationId, position);
}

/** @param position as for a measurement, in the stream of spans. */
export function chainEventRow(
  event: ChainFeedEvent,
  { chainId, position }: { readonly chainId: bigint; readonly position: number },
): EventRow {
  return rowOf(chainItem(chainId, event), '', position);
}

/** The event of a row that one of the others has made. */
export function itemOfRow({ id, type, recordedAtMs, event }: EventRow): FeedItem {
  return { id, type: type as FeedType, recordedAtMs, event: parse(event) as FeedItem['event'] };
}

function rowOf(item: FeedItem, installationId: string, position: number): EventRow {
  const { id, type, recordedAtMs, event } = item;
  return { id, type, installationId, recordedAtMs, position, event: stringify(event) };
}
