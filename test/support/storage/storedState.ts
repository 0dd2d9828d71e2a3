import { type Database, type DatabaseLocation, openDatabase } from '../../../storage/clickhouse/database.ts';
import type { Table } from '../../../storage/definition/table.ts';
import { readLineage, selectRuns } from '../../../storage/runs/lineages.ts';
import { halfHourBuckets } from '../../../storage/tables/halfHourBuckets.ts';
import { readings } from '../../../storage/tables/readings.ts';
import { rounds } from '../../../storage/tables/rounds.ts';
import { followPages, type Page } from '../http/followPages.ts';
import type { MinerProcess } from '../processes/minerProcess.ts';

/** Opens a database for a short time: of a server, or an embedded one that no service uses at the moment. */
export async function onDatabase<Result>(
  location: DatabaseLocation,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = openDatabase(location);
  return work(database).finally(() => database.close());
}

/** All rows of the fold of readings that count. */
export const storedState = (location: DatabaseLocation) => onDatabase(location, readStoredState);

export async function readStoredState(database: Database) {
  const lineage = await readLineage(database, 'MINER_COUNTER');
  const { sql, parameters } = selectRuns(lineage?.runs ?? []);
  const all = ({ list, name }: Pick<Table<unknown>, 'list' | 'name'>, order: string) =>
    database.select(
      `SELECT ${list} FROM ${name} FINAL WHERE ${sql} ORDER BY installation_id, ${order}`,
      parameters,
    );
  return {
    readings: await all(readings, 'position'),
    rounds: await all(rounds, 'round_id'),
    buckets: await all(halfHourBuckets, 'start'),
  };
}

/** Reads all observations of an installation page by page, as a client does. */
export async function allObservations({ json }: MinerProcess, installationId: string) {
  const path = `/v1/public/installations/${installationId}/observations?limit=100`;
  const page = await followPages(path, json<Page>);
  if (typeof page === 'string') throw new Error(page);
  return page.items as { readonly cursor: string; readonly telemetryId: string }[];
}
