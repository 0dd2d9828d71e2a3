import { z } from 'zod';
import { type Arrival, beforeFirst, compareArrivals } from '../events/arrival.ts';
import type { ChainFeedEvent, MeasurementEvent } from '../events/eventSchemas.ts';
import { type EventWindow, findNewestArrival } from '../events/eventWindow.ts';
import { count } from '../schemas/stateScalars.ts';
import { decodeFields, encodeFields } from './opaqueCursor.ts';

export interface FeedSources {
  readonly measurement: EventWindow<MeasurementEvent>;
  readonly chain: EventWindow<ChainFeedEvent>;
}
export type FeedSource = keyof FeedSources;
export const feedSources = ['measurement', 'chain'] as const satisfies readonly FeedSource[];

interface SourcePosition extends Arrival {
  readonly run: string;
}

/** Last events of both sources, by arrival, that were delivered to a client of the event stream. */
export type FeedPosition = Readonly<Record<FeedSource, SourcePosition>>;

export function findNewestPosition({ measurement, chain }: FeedSources): FeedPosition {
  return { measurement: findNewest(measurement), chain: findNewest(chain) };
}

function findNewest<Event extends Arrival>(window: EventWindow<Event>): SourcePosition {
  return toSourcePosition(window.run, findNewestArrival(window) ?? beforeFirst);
}

export function toSourcePosition(run: string, { position, ordinal }: Arrival): SourcePosition {
  return { run, position, ordinal };
}

/**
 * Where a source is resumed. After a position of another run, every event of this run is new.
 */
export function findStart(at: SourcePosition, { run }: Pick<EventWindow<Arrival>, 'run'>): Arrival {
  return at.run === run ? at : beforeFirst;
}

/** The later position of each source. It never goes back, since a reorganization may remove events that were already delivered. */
export function advancePosition(before: FeedPosition, newest: FeedPosition): FeedPosition {
  const later = (source: FeedSource) => {
    const [one, other] = [before[source], newest[source]];
    if (other.run === '') return one; // This process has no event of the source yet.
    return one.run === other.run && compareArrivals(one, other) >= 0 ? one : other;
  };
  const position = { measurement: later('measurement'), chain: later('chain') };
  return isSamePosition(position, before) ? before : position;
}

export function isSamePosition(one: FeedPosition, other: FeedPosition): boolean {
  return feedSources.every(
    (source) => one[source].run === other[source].run && compareArrivals(one[source], other[source]) === 0,
  );
}

/** ID of an event of the event stream. */
export function encodeFeedPosition({ measurement, chain }: FeedPosition): string {
  return encodeFields([measurement, chain].flatMap(({ run, position, ordinal }) => [run, position, ordinal]));
}

const positionFields = z.tuple([z.string(), count, count, z.string(), count, count]);

export function decodeFeedPosition(text: string): FeedPosition | null {
  const fields = decodeFields(text, positionFields);
  if (fields === null) return null;
  const [measuredRun, measuredPosition, measuredOrdinal, run, position, ordinal] = fields;
  return {
    measurement: { run: measuredRun, position: measuredPosition, ordinal: measuredOrdinal },
    chain: { run, position, ordinal },
  };
}
