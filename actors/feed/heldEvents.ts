import type { List } from 'immutable';

/** More events than this of a source, and the oldest are given up; */
const heldMax = 2_000;
/** so many of the newest stay. */
const heldMin = 1_000;
/** Fewer are not worth it: they go together, as one batch of rows. */
const givenUpMin = 500;

/** Events of a source in its own order. The newest are held; those before them are in ClickHouse alone. Immutable. */
export interface HeldEvents<Event> {
  /** Oldest first. */
  readonly events: List<Event>;
  readonly givenUp: GivenUpEvents;
}

/** What is known of the events that are not held any more. */
export interface GivenUpEvents {
  readonly count: number;
  /** The latest time that one of them was recorded at (epoch milliseconds); 0 without any. */
  readonly throughMs: number;
}

export const nothingGivenUp: GivenUpEvents = { count: 0, throughMs: 0 };

/**
 * Gives up the oldest events once there are many, those that may go. Null while all are kept.
 *
 * @param mayGo holds for events from the oldest one on, up to some event.
 */
export function giveUpOldest<Event>(
  held: HeldEvents<Event>,
  recordedAtMs: (event: Event) => number,
  mayGo: (event: Event) => boolean,
): { readonly held: HeldEvents<Event>; readonly givenUp: readonly Event[] } | null {
  const { events, givenUp } = held;
  if (events.size <= heldMax || !mayGo(events.get(givenUpMin - 1) as Event)) return null;
  const going = events
    .take(events.size - heldMin)
    .takeWhile(mayGo)
    .toArray();
  const throughMs = going.reduce((latest, event) => Math.max(latest, recordedAtMs(event)), givenUp.throughMs);
  return {
    held: { events: events.skip(going.length), givenUp: { count: givenUp.count + going.length, throughMs } },
    givenUp: going,
  };
}
