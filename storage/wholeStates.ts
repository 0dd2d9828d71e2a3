import type { Logger } from 'pino';
import type { FoldIdentity } from '../actors/foldIdentity.ts';
import { inputStreamNames } from '../actors/messages/subjects.ts';
import type { Database } from './database.ts';
import { noteGeneration } from './generationIdentity.ts';
import { findActiveTables, listGenerations } from './generations.ts';
import { readNewestEpoch } from './ingestEpochs.ts';
import { type Lineage, noteLineage, openEnd } from './lineages.ts';
import { isRefusal } from './readSnapshotRecords.ts';
import { convertNewest, type MigratedDeployment } from './releasedSnapshots.ts';
import { rowTablesOf } from './rowTables.ts';
import { createSnapshotStore } from './snapshots.ts';
import { foldStates } from './tables/foldStates.ts';
import { createTable } from './tables/table.ts';
import { resolveTables } from './tables.ts';

/**
 * Takes the newest state of each stream over from the tables of version 1.0, which stay as they are. A stream whose state cannot be taken
 * over is folded again. May be killed anywhere and run again.
 */
export async function takeOverStates(
  database: Database,
  logger: Logger,
  deployment: MigratedDeployment,
): Promise<void> {
  for (const generation of await listGenerations(database))
    await createTable(database, foldStates, resolveTables(generation).foldStates);
  const tables = await findActiveTables(database);
  const { generation } = tables;
  const store = createSnapshotStore({ database, tables: () => tables });
  for (const stream of inputStreamNames) {
    if ((await store.list(stream)).length > 0) continue;
    try {
      const converted = await convertNewest(database, { generation, stream, deployment });
      if (converted === null) continue;
      const { header, records } = converted;
      // Its fold would make the same rows.
      if (stream === 'MINER_COUNTER')
        await noteGeneration(database, { ...header, generation, atMs: header.takenAtMs });
      const run = stream === 'MINER_CHAIN' ? await noteFirstLineage(database, header) : '';
      await store.save({ ...header, run }, records);
      logger.info({ stream, position: header.position }, 'the saved state is taken over');
    } catch (error) {
      if (!isRefusal(error)) throw error;
      logger.warn({ stream, err: error }, 'the saved state is not taken over: the stream is folded again');
    }
  }
}

/** Rows that the fold of the chain made before there were lineages are the first run of one. */
async function noteFirstLineage(
  database: Database,
  header: FoldIdentity & Pick<Lineage, 'streamCreated' | 'position'>,
) {
  const run = await findNewestRun(database);
  const { foldVersion, configuration, streamCreated, position } = header;
  const origin = { foldVersion, configuration, streamCreated, position };
  const writer = await readNewestEpoch(database);
  const runs = [{ run, through: openEnd }];
  await noteLineage(
    database,
    { ...origin, ...writer, stream: 'MINER_CHAIN', step: 0, cause: 'continued', runs },
    0,
  );
  return run;
}

/**
 * The run of the chain's row that the last message has stored with version 1.0; of no row if there is none. Its runs have a point in their names, and others
 * are of an upgrade that was undone.
 */
async function findNewestRun(database: Database): Promise<string> {
  const tables = await findActiveTables(database);
  const newest = await Promise.all(
    rowTablesOf('MINER_CHAIN').map(({ resolveName }) =>
      database.select(
        `SELECT stored_by, run FROM ${resolveName(tables)} WHERE run LIKE '%.%' ORDER BY stored_by DESC LIMIT 1`,
      ),
    ),
  );
  const [row] = newest.flat().sort(([one], [other]) => Number(other) - Number(one));
  return String(row?.[1] ?? 'first');
}
