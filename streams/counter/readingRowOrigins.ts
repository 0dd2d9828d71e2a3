import { decodeReading } from '../../actors/wheel/decodeCounter.ts';
import type { Database } from '../../storage/database.ts';
import { readNewestReading } from '../../storage/observations.ts';
import type { Tables } from '../../storage/tables.ts';
import type { RowOrigin } from '../follower/storedHistory.ts';

/** Finds the message of the newest reading by its `telemetryId`. */
export async function readReadingRowOrigins(database: Database, tables: Tables): Promise<RowOrigin[]> {
  const newest = await readNewestReading(database, tables);
  if (newest === null) return [];
  const { position, telemetryId } = newest;
  return [
    {
      position,
      isMessage: ({ data }) => {
        const decoded = decodeReading(data, position);
        return 'value' in decoded && decoded.value.telemetryId === telemetryId;
      },
    },
  ];
}
