import type { OlderEvents } from '../actors/views.ts';
import type { Database } from './database.ts';
import { eventColumns, eventOfRow } from './rowInserts.ts';
import { StorageUnavailable } from './storageUnavailable.ts';
import type { ActiveTables } from './tables.ts';
import { sqlString } from './tabSeparated.ts';

export interface StoredEventsParts {
  readonly database: Database;
  readonly tables: ActiveTables;
}

/** Events of the feed that memory has given up, from ClickHouse. */
export function createStoredEvents({ database, tables }: StoredEventsParts): OlderEvents {
  return {
    read: async ({ source, types, place, direction, limit, givenUp }, signal) => {
      const { measurementEvents, chainEvents } = tables();
      const table = source === 'measurement' ? measurementEvents : chainEvents;
      // Events are given up, and stored, in the order of their source: so many are those that are asked for.
      const [held] = await database.select(`SELECT uniqExact(id) FROM ${table}`, signal);
      if (Number(held?.[0]) < givenUp)
        throw new StorageUnavailable(`ClickHouse does not hold the ${givenUp} oldest ${source} events yet`);
      const isOlder = direction === 'older';
      const conditions = [`type IN (${types.map(sqlString).join(', ')})`];
      if (place !== null) {
        const { recordedAtMs, id } = place;
        conditions.push(
          isOlder ? `recorded_at_ms <= ${recordedAtMs}` : `recorded_at_ms >= ${recordedAtMs}`,
          `(recorded_at_ms != ${recordedAtMs} OR id ${isOlder ? '>' : '<'} ${sqlString(id)})`,
        );
      }
      // Of the same time the smaller ID is shown first, so it is the newer one.
      const order = isOlder ? 'recorded_at_ms DESC, id ASC' : 'recorded_at_ms ASC, id DESC';
      const rows = await database.select(
        `SELECT ${eventColumns.join(', ')} FROM ${table} WHERE ${conditions.join(' AND ')}
         ORDER BY ${order} LIMIT 1 BY id LIMIT ${limit}`,
        signal,
      );
      return rows.map(eventOfRow);
    },
  };
}
