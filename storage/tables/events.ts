import type { EventRow, KeyedEventRow } from '../../actors/feed/eventRows.ts';
import type { StoredCategory } from '../../actors/feed/feedItem.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import { column, count, enumerated, name, smallCount, string, time } from '../definition/column.ts';
import { type OfRun, runColumn, storedByColumn } from '../definition/runColumns.ts';
import { defineTable, type Table } from '../definition/table.ts';

/** Small marks keep a page at a few marks of a table, however large. */
export const rowsPerMark = 256;

/** Numbered in this order, so add a new one at the end. */
const categories: readonly StoredCategory[] = ['measurement', 'protocol', 'players'];

/** Place of an event in the order of the feed, by one of its keys. */
interface EventKeyRow
  extends Pick<EventRow, 'installationId' | 'recordedAtMs' | 'position' | 'ordinal' | 'storedBy'> {
  readonly key: string;
}

/** Tables of events of one source that memory has evicted, and of their places. */
export interface EventTables {
  readonly keys: Table<EventKeyRow & OfRun, EventKeyRow>;
  readonly events: Table<EventRow & OfRun, EventRow>;
}

/** One row for each key of an event. */
export function listKeyRows({
  keys,
  installationId,
  recordedAtMs,
  position,
  ordinal,
  storedBy,
}: Omit<EventKeyRow, 'key'> & Pick<KeyedEventRow, 'keys'>): EventKeyRow[] {
  return keys.map((key) => ({ key, installationId, recordedAtMs, position, ordinal, storedBy }));
}

export const measurementEvents = defineEventTables(
  'stored_measurement_events',
  'Measurement events',
  'MINER_COUNTER',
);

export const chainEvents = defineEventTables('stored_chain_events', 'Chain events', 'MINER_CHAIN');

/**
 * A run of events is not partitioned further: a page reads every part that may hold some of it, and parts of different partitions are never merged.
 * After a reorganization a fold may store an event once more. Both rows stay, since a lineage may end between them.
 */
function defineEventTables(tableName: string, kind: string, stream: InputStreamName): EventTables {
  const category = column(enumerated(categories), { comment: 'Category of the feed' });
  const installationId = column(name, { comment: 'Installation; empty for an event of the chain' });
  const position = column(count, {
    comment: `Sequence in ${stream} of the message that made the event visible`,
    codec: 'Delta, ZSTD(1)',
  });
  const ordinal = column(smallCount, { comment: 'Place among the events of that message, from 0' });
  const key = column(string, {
    comment: 'What the event is found by, such as its category, or an owner and a type',
    codec: 'ZSTD(1)',
  });
  const recordedAtMs = column(time, {
    comment: 'Time by which the feed is ordered',
    codec: 'Delta, ZSTD(1)',
  });
  const storedBy = storedByColumn(stream);
  return {
    keys: defineTable<EventKeyRow & OfRun, EventKeyRow>({
      name: `${tableName}_keys`,
      comment: `Places of the events in ${tableName}, by category, type, owner, miner, transaction, block and achievement`,
      columns: { run: runColumn, key, installationId, recordedAtMs, position, ordinal, storedBy },
      shared: ['run'],
      engine: 'ReplacingMergeTree()',
      partitionBy: { value: 'run' },
      orderBy: ['run', 'key', 'recordedAtMs', 'position', 'ordinal', 'storedBy'],
      rowsPerMark,
    }),
    events: defineTable<EventRow & OfRun, EventRow>({
      name: tableName,
      comment: `${kind} of the feed that memory has evicted, in order of arrival`,
      columns: {
        run: runColumn,
        category,
        installationId,
        position,
        ordinal,
        id: column(string, { comment: 'ID of the event in the feed', codec: 'ZSTD(1)' }),
        type: column(name, { comment: 'Type of the event' }),
        recordedAtMs,
        arrivedAtMs: column(time, {
          comment: 'When the stream stored that message',
          codec: 'Delta, ZSTD(1)',
        }),
        event: column(string, { comment: 'The event as JSON', codec: 'ZSTD(3)' }),
        storedBy,
      },
      shared: ['run'],
      engine: 'ReplacingMergeTree()',
      partitionBy: { value: 'run' },
      orderBy: ['run', 'category', 'position', 'ordinal', 'storedBy'],
      rowsPerMark,
    }),
  };
}
