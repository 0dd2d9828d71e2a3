import { z } from 'zod';
import type { Inferred } from '../../machines/inferred.ts';
import { count } from '../schemas/stateScalars.ts';

/**
 * Place of an event in the order in which the events of its source became visible. For the chain this is also the order of blocks,
 * transactions and logs: blocks become safe one after another, and a reorganization replaces them with a later message.
 */
export const arrival = z.strictObject({
  /** Sequence of the message that made the event visible: the reading, or the span that made its block safe. */
  position: count,
  /** Place among the events of that message, from 0. */
  ordinal: count,
});
export type Arrival = Inferred<typeof arrival>;

/** The place before the first event, since sequences begin at 1. */
export const beforeFirst: Arrival = { position: 0, ordinal: 0 };

/** Negative when `one` arrived before `other`, 0 for the same place. */
export function compareArrivals(one: Arrival, other: Arrival): number {
  return one.position - other.position || one.ordinal - other.ordinal;
}

/** A key that is unique among the events of a source. */
export function formatArrival({ position, ordinal }: Arrival): string {
  return `${position}.${ordinal}`;
}
