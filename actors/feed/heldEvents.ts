import type { List } from 'immutable';
import { type Arrival, compareArrivals } from './arrival.ts';

/** More events than this of a source, and the oldest are given up; */
const heldMax = 2_000;
/** so many of the newest stay. */
const heldMin = 1_000;
/** Fewer are not worth it: they go together, as one batch of rows. */
const givenUpMin = 500;

/**
 * Events of a source in order of arrival. The newest are held; those before them are in ClickHouse alone. Immutable.
 */
export interface HeldEvents<Event extends Arrival> {
  /** The run of the fold that made them ({@link runOf}); rows of another run are not read. */
  readonly run: string;
  /** Oldest first. */
  readonly events: List<Event>;
  readonly givenUp: GivenUpEvents;
}

/** What is known of the events that are not held any more: all through some event. */
export interface GivenUpEvents {
  /** The newest of them; null without any. */
  readonly through: Arrival | null;
  /** The latest time that one of them was recorded at (epoch milliseconds); 0 without any. */
  readonly throughMs: number;
  /** Sequence of the message that the newest was given up at, 0 without any: rows are complete once those of it are stored. */
  readonly atPosition: number;
}

export const nothingGivenUp: GivenUpEvents = { through: null, throughMs: 0, atPosition: 0 };

/**
 * Names a run of a fold by the first message that it took. What is folded again from the same first message is the same
 * run, with the same events at the same places. Where a purge, or another stream, leaves another message to begin with, the
 * fold tells other events: those that an earlier run has stored are not part of them.
 */
export function runOf(firstPosition: number, storedAtMs: number): string {
  return `${firstPosition}.${storedAtMs}`;
}

/** The newest event that there was; null before the first. */
export function newestArrival<Event extends Arrival>({ events, givenUp }: HeldEvents<Event>): Arrival | null {
  return events.last() ?? givenUp.through;
}

/** The events that arrived after a place, of those that are held. */
export function heldAfter<Event extends Arrival>({ events }: HeldEvents<Event>, after: Arrival): Event[] {
  let low = 0;
  let high = events.size;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareArrivals(events.get(middle) as Event, after) > 0) high = middle;
    else low = middle + 1;
  }
  return events.slice(low).toArray();
}

/**
 * Gives up the oldest events once there are many, those that may go. Null while all are kept.
 *
 * @param mayGo holds for events from the oldest one on, up to some event.
 * @param position sequence of the message that is being folded.
 */
export function giveUpOldest<Event extends Arrival>(
  held: HeldEvents<Event>,
  recordedAtMs: (event: Event) => number,
  mayGo: (event: Event) => boolean,
  position: number,
): { readonly held: HeldEvents<Event>; readonly givenUp: readonly Event[] } | null {
  const { run, events, givenUp } = held;
  if (events.size <= heldMax || !mayGo(events.get(givenUpMin - 1) as Event)) return null;
  const going = events
    .take(events.size - heldMin)
    .takeWhile(mayGo)
    .toArray();
  const newest = going.at(-1) as Event;
  const throughMs = going.reduce((latest, event) => Math.max(latest, recordedAtMs(event)), givenUp.throughMs);
  const through = { position: newest.position, ordinal: newest.ordinal };
  return {
    held: { run, events: events.skip(going.length), givenUp: { through, throughMs, atPosition: position } },
    givenUp: going,
  };
}
