import type { StoredBy } from '../../actors/chain/rows/rowOrigin.ts';
import type { EventRow } from '../../actors/feed/eventRows.ts';
import type { StoredCategory } from '../../actors/feed/feedCategories.ts';
import { storedByColumns } from './chainColumns.ts';
import { column, count, enumerated, name, smallCount, string, time } from './column.ts';
import { defineTable, type Table, type TableOptions } from './table.ts';

/** In the order of their numbers in the enumeration: a new one is added at the end. */
const categories: readonly StoredCategory[] = ['measurement', 'protocol', 'players'];

/** A page is a few marks of a table, whatever the table holds. */
const rowsPerMark = 256;

/** Where an event is in the order of the feed. */
type EventTimeRow = Pick<
  EventRow,
  'run' | 'category' | 'installationId' | 'recordedAtMs' | 'position' | 'ordinal'
>;

/** Where an event is, by its ID. */
type EventIdRow = Pick<EventRow, 'run' | 'id' | 'installationId' | 'position' | 'ordinal' | 'arrivedAtMs'>;

/** Events of one source that memory has evicted, and where to find them. */
export interface EventTableDefinitions<Extra = unknown> {
  readonly ids: Table<EventIdRow & Extra>;
  readonly times: Table<EventTimeRow & Extra>;
  /** The events, in order of arrival. */
  readonly events: Table<EventRow & Extra>;
}

/** What the readings reached; each generation has tables of it. */
export const measurementEvents = defineMeasurementTables();

/** What happened on the chain: the same tables for all generations, since a replay does not fold the chain. */
export const chainEvents = defineChainTables();

function defineMeasurementTables(): EventTableDefinitions {
  const { ids, times, events } = describeEventTables('measurement_feed', 'what the readings reached');
  return { ids: defineTable(ids), times: defineTable(times), events: defineTable(events) };
}

function defineChainTables(): EventTableDefinitions<StoredBy> {
  const { ids, times, events } = describeEventTables('chain_feed_events', 'what happened on the chain');
  return {
    ids: defineTable<EventIdRow & StoredBy>({ ...ids, columns: { ...ids.columns, ...storedByColumns } }),
    times: defineTable<EventTimeRow & StoredBy>({
      ...times,
      columns: { ...times.columns, ...storedByColumns },
    }),
    events: defineTable<EventRow & StoredBy>({
      ...events,
      columns: { ...events.columns, ...storedByColumns },
    }),
  };
}

/** The tables of events of one source, without columns that the other does not have. */
interface EventTableOptions {
  readonly ids: TableOptions<EventIdRow>;
  readonly times: TableOptions<EventTimeRow>;
  readonly events: TableOptions<EventRow>;
}

/**
 * Event tables are not partitioned: a page is read from every part of a table that may hold some of it, and parts of different
 * partitions are never merged.
 */
function describeEventTables(tableName: string, what: string): EventTableOptions {
  const run = column(name, { comment: 'Run of the fold that made it, named by its first message' });
  const category = column(enumerated(categories), { comment: 'Category of the feed' });
  const installationId = column(name, { comment: 'Installation; empty for an event of the chain' });
  const position = column(count, {
    comment: 'Sequence of the message that made it visible, in the stream of its source',
    codec: 'Delta, ZSTD(1)',
  });
  const ordinal = column(smallCount, { comment: 'Its place among the events of that message, from 0' });
  const id = column(string, { comment: 'ID of the event in the feed', codec: 'ZSTD(1)' });
  const recordedAtMs = column(time, {
    comment: 'Time by which the feed is ordered',
    codec: 'Delta, ZSTD(1)',
  });
  const arrivedAtMs = column(time, {
    comment: 'When the stream stored that message',
    codec: 'Delta, ZSTD(1)',
  });
  return {
    ids: {
      name: `${tableName}_ids`,
      comment: `Places of the events in ${tableName}, by ID`,
      columns: { run, id, installationId, position, ordinal, arrivedAtMs },
      engine: 'ReplacingMergeTree()',
      orderBy: ['run', 'id'],
      rowsPerMark,
    },
    times: {
      name: `${tableName}_times`,
      comment: `Places of the events in ${tableName}, by time`,
      columns: { run, category, installationId, recordedAtMs, position, ordinal },
      engine: 'ReplacingMergeTree()',
      orderBy: ['run', 'category', 'recordedAtMs', 'position', 'ordinal'],
      rowsPerMark,
    },
    events: {
      name: tableName,
      comment: `Events of the feed, ${what}, in the order of arrival, as far as memory has evicted them`,
      columns: {
        run,
        category,
        installationId,
        position,
        ordinal,
        id,
        type: column(name, { comment: 'Type of the event' }),
        recordedAtMs,
        arrivedAtMs,
        event: column(string, { comment: 'The event as JSON', codec: 'ZSTD(3)' }),
      },
      engine: 'ReplacingMergeTree()',
      orderBy: ['run', 'category', 'position', 'ordinal'],
      rowsPerMark,
    },
  };
}
