import type { EventRow } from '../../actors/storedRows.ts';
import { integer, string } from './column.ts';
import { defineTable, type Table } from './table.ts';

/** A page is a few marks of a table, whatever the table holds. */
const rowsPerMark = 256;

/** Where an event is in the order of the feed. */
export type EventTimeRow = Pick<
  EventRow,
  'run' | 'category' | 'installationId' | 'recordedAtMs' | 'position' | 'ordinal'
>;

/** Where an event is, by its ID. */
export type EventIdRow = Pick<
  EventRow,
  'run' | 'id' | 'installationId' | 'position' | 'ordinal' | 'arrivedAtMs'
>;

/** Events of one source that memory has evicted, and where to find them. */
export interface EventTableDefinitions {
  readonly ids: Table<EventIdRow>;
  readonly times: Table<EventTimeRow>;
  /** The events, in order of arrival. */
  readonly events: Table<EventRow>;
}

/** What the readings reached; each generation has tables of it. */
export const measurementEvents = defineEventTables('measurement_feed');

/** What happened on the chain: the same tables for all generations, since a replay does not fold the chain. */
export const chainEvents = defineEventTables('chain_feed');

/**
 * Tables of events; those of both sources have the same columns. They are not partitioned: a page is read from every part of
 * a table that may hold some of it, and parts of different partitions are never merged.
 */
function defineEventTables(name: string): EventTableDefinitions {
  return {
    ids: defineTable<EventIdRow>({
      name: `${name}_ids`,
      columns: {
        run: string,
        id: string,
        installationId: string,
        position: integer,
        ordinal: integer,
        arrivedAtMs: integer,
      },
      engine: 'ReplacingMergeTree()',
      orderBy: ['run', 'id'],
      rowsPerMark,
    }),
    times: defineTable<EventTimeRow>({
      name: `${name}_times`,
      columns: {
        run: string,
        category: string,
        installationId: string,
        recordedAtMs: integer,
        position: integer,
        ordinal: integer,
      },
      engine: 'ReplacingMergeTree()',
      orderBy: ['run', 'category', 'recordedAtMs', 'position', 'ordinal'],
      rowsPerMark,
    }),
    events: defineTable<EventRow>({
      name,
      columns: {
        run: string,
        category: string,
        installationId: string,
        position: integer,
        ordinal: integer,
        id: string,
        type: string,
        recordedAtMs: integer,
        arrivedAtMs: integer,
        event: string,
      },
      engine: 'ReplacingMergeTree()',
      orderBy: ['run', 'category', 'position', 'ordinal'],
      rowsPerMark,
    }),
  };
}
