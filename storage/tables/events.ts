import type { StoredBy } from '../../actors/chain/rows/rowOrigin.ts';
import type { EventRow } from '../../actors/feed/eventRows.ts';
import type { StoredCategory } from '../../actors/feed/feedCategories.ts';
import { type OfRun, rowsPerMark, runColumn, storedByColumns } from './chainColumns.ts';
import { type Column, column, count, enumerated, name, smallCount, string, time } from './column.ts';
import { defineTable, type Table, type TableOptions } from './table.ts';

const foldRun = column(name, { comment: 'Run of the fold that made the row, named by its first message' });

/** Numbered in this order, so add a new one at the end. */
const categories: readonly StoredCategory[] = ['measurement', 'protocol', 'players'];

/** Place of an event in the order of the feed. */
type EventTimeRow = OfRun<
  Pick<EventRow, 'category' | 'installationId' | 'recordedAtMs' | 'position' | 'ordinal'>
>;

/** Place of an event by its ID. */
type EventIdRow = OfRun<Pick<EventRow, 'id' | 'installationId' | 'position' | 'ordinal' | 'arrivedAtMs'>>;

/** Tables of events of one source that memory has evicted, and of their places. */
interface EventTableDefinitions<Extra = unknown> {
  readonly ids: Table<EventIdRow & Extra>;
  readonly times: Table<EventTimeRow & Extra>;
  readonly events: Table<OfRun<EventRow> & Extra>;
}

/** Events from measurements. Each generation has its own tables. */
export const measurementEvents = defineMeasurementTables();

/** Events of the chain. All generations share the tables, since a replay does not fold the chain. */
export const chainEvents = defineChainTables();

function defineMeasurementTables(): EventTableDefinitions {
  const { ids, times, events } = describeEventTables('measurement_feed', 'Measurement events', foldRun);
  return { ids: defineTable(ids), times: defineTable(times), events: defineTable(events) };
}

function defineChainTables(): EventTableDefinitions<StoredBy> {
  const { ids, times, events } = describeEventTables('chain_feed_events', 'Chain events', runColumn);
  return {
    ids: defineTable<EventIdRow & StoredBy>({ ...ids, columns: { ...ids.columns, ...storedByColumns } }),
    times: defineTable<EventTimeRow & StoredBy>({
      ...times,
      columns: { ...times.columns, ...storedByColumns },
    }),
    events: defineTable<OfRun<EventRow> & StoredBy>({
      ...events,
      columns: { ...events.columns, ...storedByColumns },
    }),
  };
}

interface EventTableOptions {
  readonly ids: TableOptions<EventIdRow>;
  readonly times: TableOptions<EventTimeRow>;
  readonly events: TableOptions<OfRun<EventRow>>;
}

/**
 * Event tables are not partitioned: a page reads every part that may hold some of it, and parts of different partitions are never merged.
 */
function describeEventTables(tableName: string, kind: string, run: Column<string>): EventTableOptions {
  const category = column(enumerated(categories), { comment: 'Category of the feed' });
  const installationId = column(name, { comment: 'Installation; empty for an event of the chain' });
  const position = column(count, {
    comment: 'Sequence of the message that made the event visible, in the stream of its source',
    codec: 'Delta, ZSTD(1)',
  });
  const ordinal = column(smallCount, { comment: 'Place among the events of that message, from 0' });
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
      comment: `${kind} of the feed that memory has evicted, in order of arrival`,
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
