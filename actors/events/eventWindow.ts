import type { List } from 'immutable';
import { z } from 'zod';
import type { Inferred } from '../../machines/inferred.ts';
import { count, milliseconds } from '../schemas/stateScalars.ts';
import { type Arrival, arrival } from './arrival.ts';

/** With more events than this in memory, the oldest of a source are evicted. */
const windowMax = 2_000;
/** Number of newest events that stay after an eviction. */
const windowMin = 1_000;
/** Smallest eviction, since evicted events are stored as one batch of rows. */
const evictedMin = 500;

/**
 * The newest events of a source, in order of arrival. Older events are only stored. Immutable.
 */
export interface EventWindow<Event extends Arrival> {
  /** Oldest first. */
  readonly events: List<Event>;
  readonly evicted: EvictedEvents;
}

/** Summary of the evicted events: all events through some event. */
export const evictedEvents = z.strictObject({
  /** The newest evicted event; null without any. */
  through: arrival.nullable(),
  /** Latest recording time of the evicted events (epoch milliseconds); 0 without any. */
  throughMs: milliseconds,
  /**
   * Sequence of the message that evicted the newest of them; 0 without any. Once its rows are stored, all rows are.
   */
  atPosition: count,
});
export type EvictedEvents = Inferred<typeof evictedEvents>;

export const nothingEvicted: EvictedEvents = { through: null, throughMs: 0, atPosition: 0 };

interface EvictionRule<Event> {
  readonly recordedAtMs: (event: Event) => number;
  /** True for the events from the oldest one up to some event, false for all after it. */
  readonly canEvict: (event: Event) => boolean;
  /** Sequence of the message that is being folded. */
  readonly position: number;
}

/** Evicts the oldest events that may go, once the window is full; null if all stay. */
export function evictOldest<Event extends Arrival>(
  window: EventWindow<Event>,
  { recordedAtMs, canEvict, position }: EvictionRule<Event>,
): { readonly window: EventWindow<Event>; readonly evicted: readonly Event[] } | null {
  const { events, evicted } = window;
  if (events.size <= windowMax || !canEvict(events.get(evictedMin - 1) as Event)) return null;
  const leaving = events
    .take(events.size - windowMin)
    .takeWhile(canEvict)
    .toArray();
  const newest = leaving.at(-1) as Event;
  const throughMs = leaving.reduce(
    (latest, event) => Math.max(latest, recordedAtMs(event)),
    evicted.throughMs,
  );
  const through = { position: newest.position, ordinal: newest.ordinal };
  return {
    window: {
      events: events.skip(leaving.length),
      evicted: { through, throughMs, atPosition: position },
    },
    evicted: leaving,
  };
}
