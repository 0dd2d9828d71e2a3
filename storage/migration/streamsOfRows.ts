import { type InputStreamName, inputStreamNames } from '../../actors/messages/subjects.ts';
import type { Database } from '../clickhouse/database.ts';
import { readLineage } from '../runs/lineages.ts';
import { isReadable } from './migrations.ts';
import { readReleasedStreams } from './releasedSnapshots.ts';

/**
 * Creation times of the streams that rows and snapshots which count were made from, by stream, the newest first. A stream that was never folded is
 * left out.
 */
export async function readStreamsOfRows(
  database: Database,
): Promise<Map<InputStreamName, readonly [string, ...string[]]>> {
  // A database of an earlier version is read before it is migrated.
  if (!(await isReadable(database))) return readReleasedStreams(database);
  const created = new Map<InputStreamName, readonly [string, ...string[]]>();
  for (const stream of inputStreamNames.toSorted()) {
    const lineage = await readLineage(database, stream);
    if (lineage !== null) created.set(stream, [lineage.streamCreated]);
  }
  return created;
}
