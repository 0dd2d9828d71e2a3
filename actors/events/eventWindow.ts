import type { List } from 'immutable';
import { z } from 'zod';
import type { Inferred } from '../../machines/inferred.ts';
import { findFirstIndex } from '../findFirstIndex.ts';
import { count, milliseconds } from '../schemas/stateScalars.ts';
import { type Arrival, arrival, compareArrivals } from './arrival.ts';

/** When a source has more events than this in memory, the oldest are evicted, */
const windowMax = 2_000;
/** and so many of the newest stay. */
const windowMin = 1_000;
/** Fewer are not worth it: they go together, as one batch of rows. */
const evictedMin = 500;

/**
 * The newest events of a source, in order of arrival. Those before them are in ClickHouse alone. Immutable.
 */
export interface EventWindow<Event extends Arrival> {
  /** The run of the fold that made them ({@link buildRunId}); rows of another run are not read. */
  readonly run: string;
  /** Oldest first. */
  readonly events: List<Event>;
  readonly evicted: EvictedEvents;
}

/** What is known of the events that have left memory: all through some event. */
export const evictedEvents = z.strictObject({
  /** The newest of them; null without any. */
  through: arrival.nullable(),
  /** The latest time that one of them was recorded at (epoch milliseconds); 0 without any. */
  throughMs: milliseconds,
  /**
   * Sequence of the message that the newest was evicted at, 0 without any: all rows are stored once those of that message
   * are.
   */
  atPosition: count,
});
export type EvictedEvents = Inferred<typeof evictedEvents>;

export const nothingEvicted: EvictedEvents = { through: null, throughMs: 0, atPosition: 0 };

/**
 * Names a run of a fold by the first message that it took. Folding again from the same first message is the same run, with
 * the same events at the same places. Where a purge, or another stream, leaves another message to begin with, the fold
 * makes other events: those that an earlier run has stored are not part of them.
 */
export function buildRunId(firstPosition: number, storedAtMs: number): string {
  return `${firstPosition}.${storedAtMs}`;
}

/** The newest event that there was; null before the first. */
export function findNewestArrival<Event extends Arrival>({
  events,
  evicted,
}: EventWindow<Event>): Arrival | null {
  return events.last() ?? evicted.through;
}

/** The events in memory that arrived after a place. */
export function findEventsAfter<Event extends Arrival>(
  { events }: EventWindow<Event>,
  after: Arrival,
): List<Event> {
  const isAfter = (index: number) => compareArrivals(events.get(index) as Event, after) > 0;
  return events.slice(findFirstIndex(events.size, isAfter));
}

interface EvictionRule<Event> {
  readonly recordedAtMs: (event: Event) => number;
  /** True for the events from the oldest one up to some event, false for all after it. */
  readonly canEvict: (event: Event) => boolean;
  /** Sequence of the message that is being folded. */
  readonly position: number;
}

/** Evicts the oldest events once there are many, as far as they may go. Null while all stay. */
export function evictOldest<Event extends Arrival>(
  window: EventWindow<Event>,
  { recordedAtMs, canEvict, position }: EvictionRule<Event>,
): { readonly window: EventWindow<Event>; readonly evicted: readonly Event[] } | null {
  const { run, events, evicted } = window;
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
      run,
      events: events.skip(leaving.length),
      evicted: { through, throughMs, atPosition: position },
    },
    evicted: leaving,
  };
}
