import type { InputStreamName } from '../actors/messages/subjects.ts';
import { hasReadings } from './countStored.ts';
import type { Database } from './database.ts';
import { readGenerationIdentity } from './generationIdentity.ts';
import { hasTable } from './hasTable.ts';
import { readLineage } from './lineages.ts';
import { releasedSnapshots } from './releasedSnapshots.ts';
import { foldStates } from './tables/foldStates.ts';
import { lineages } from './tables/lineages.ts';
import type { Tables } from './tables.ts';

const origins = foldStates.select('stream', 'streamCreated');

/**
 * Creation times of the streams that rows and snapshots were made from, by stream. Readings without a snapshot belong to the stream with which their
 * generation began. A stream without rows and snapshots is left out.
 */
export async function readStreamsOfRows(
  database: Database,
  tables: Tables,
): Promise<Map<InputStreamName, readonly [string, ...string[]]>> {
  // A database of an earlier version is read before it is migrated.
  const isMigrated =
    (await hasTable(database, lineages.name)) && (await hasTable(database, tables.foldStates));
  const snapshots = isMigrated ? tables.foldStates : `${releasedSnapshots.name}_g${tables.generation}`;
  const rows = await database.select(`SELECT DISTINCT ${origins.list} FROM ${snapshots} ORDER BY stream`);
  const created = new Map<InputStreamName, readonly [string, ...string[]]>();
  for (const { stream, streamCreated } of rows.map(origins.read))
    if (stream !== 'MINER_COUNTER beside')
      created.set(stream, [streamCreated, ...(created.get(stream) ?? [])]);
  // Rows and snapshots of earlier streams stay, but count no longer.
  const ofChain = isMigrated ? await readLineage(database, 'MINER_CHAIN') : null;
  if (ofChain !== null) created.set(ofChain.stream, [ofChain.streamCreated]);
  if (!created.has('MINER_COUNTER') && (await hasReadings(database, tables))) {
    const begun = await readGenerationIdentity(database, tables);
    if (begun !== null) created.set('MINER_COUNTER', [begun.streamCreated]);
  }
  return created;
}
