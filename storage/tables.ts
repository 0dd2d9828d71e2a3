import { chainCheckpoints, chainSettlements } from './tables/chainSettlements.ts';
import { chainEvents, measurementEvents } from './tables/events.ts';
import { foldStates } from './tables/foldStates.ts';
import { halfHourBuckets } from './tables/halfHourBuckets.ts';
import { ownerActivity } from './tables/ownerActivity.ts';
import { readings } from './tables/readings.ts';
import { rounds } from './tables/rounds.ts';

/**
 * Names of the tables of one generation. A replay builds the next generation and then moves the pointer (`storage/generations.ts`), so every
 * statement takes its names from here.
 */
export interface Tables {
  readonly generation: number;
  readonly readings: string;
  readonly rounds: string;
  readonly halfHourBuckets: string;
  readonly measurementEvents: EventTables;
  readonly foldStates: string;
  /** Shared by all generations, like the three below: a replay does not fold the chain. */
  readonly chainEvents: EventTables;
  readonly ownerActivity: string;
  readonly settlements: string;
  readonly checkpoints: string;
}

/** Events of a source that memory has evicted, and their places. */
export interface EventTables {
  /** Events in order of arrival. */
  readonly events: string;
  /** Places in the order of the feed. */
  readonly times: string;
  /** Places by ID. */
  readonly ids: string;
}

/**
 * Names of tables that a check fills with everything that the streams hold: in one generation like any other, and with tables of the chain that belong to
 * it. Nobody reads them.
 */
export function resolveCheckedTables(generation: number): Tables {
  const tables = resolveTables(generation);
  const formatName = (name: string) => `${name}_g${generation}`;
  const { events, times, ids } = tables.chainEvents;
  return {
    ...tables,
    chainEvents: { events: formatName(events), times: formatName(times), ids: formatName(ids) },
    ownerActivity: formatName(tables.ownerActivity),
    settlements: formatName(tables.settlements),
    checkpoints: formatName(tables.checkpoints),
  };
}

/** Returns the tables in use, which a swap changes while the service runs. */
export type ActiveTables = () => Tables;

export function resolveTables(generation: number): Tables {
  const formatName = ({ name }: { readonly name: string }) => `${name}_g${generation}`;
  return {
    generation,
    readings: formatName(readings),
    rounds: formatName(rounds),
    halfHourBuckets: formatName(halfHourBuckets),
    measurementEvents: {
      events: formatName(measurementEvents.events),
      times: formatName(measurementEvents.times),
      ids: formatName(measurementEvents.ids),
    },
    foldStates: formatName(foldStates),
    chainEvents: {
      events: chainEvents.events.name,
      times: chainEvents.times.name,
      ids: chainEvents.ids.name,
    },
    ownerActivity: ownerActivity.name,
    settlements: chainSettlements.name,
    checkpoints: chainCheckpoints.name,
  };
}
