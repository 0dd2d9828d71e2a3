import type { InputStreamName } from '../../actors/messages/subjects.ts';
import type { Database } from '../clickhouse/database.ts';
import { readNewestLineages } from '../runs/lineages.ts';
import { migrationState } from './migrate.ts';
import { readReleasedStreams } from './releasedSnapshots.ts';

/**
 * Creation times of the streams that rows and snapshots which count were made from, by stream, the newest first. A stream that was never folded is
 * left out.
 */
export async function readStreamsOfRows(
  database: Database,
): Promise<Map<InputStreamName, readonly [string, ...string[]]>> {
  // A database of an earlier version is read before it is migrated.
  const { isReadable } = await migrationState(database);
  if (!isReadable) return readReleasedStreams(database);
  const newest = await readNewestLineages(database);
  const created = newest.map(({ stream, streamCreated }) => [stream, [streamCreated]] as const);
  return new Map(created.sort(([one], [other]) => (one < other ? -1 : 1)));
}
