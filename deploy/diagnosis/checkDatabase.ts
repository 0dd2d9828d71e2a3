import { findDamagedParts } from '../../storage/clickhouse/damagedParts.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import {
  isSupportedVersion,
  readServerVersion,
  ServerTooOld,
} from '../../storage/clickhouse/serverVersion.ts';
import {
  DatabaseIncompatible,
  DatabaseTooNew,
  migrationState,
  requireUsable,
} from '../../storage/migration/migrate.ts';
import { findFillBase, listUnfinished } from '../../storage/runs/fills.ts';
import { type Finding, failed, ok } from './finding.ts';

export async function checkDatabase(database: Database): Promise<Finding[]> {
  const version = await readServerVersion(database);
  if (!isSupportedVersion(version))
    return [failed('ClickHouse', new ServerTooOld(version).message, 'upgrade the server')];
  const findings = [ok('ClickHouse', `${database.kind}, version ${version}`)];
  const { applied, known } = await migrationState(database);
  const incompatible = await findIncompatibility(database);
  if (incompatible !== null)
    return [...findings, failed('migrations', incompatible.message, 'deploy/RUNBOOK.md, "Rollback"')];
  if (applied === known)
    return [
      ...findings,
      ok('migrations', `all ${known} applied`),
      await describeReplays(database),
      ...(await checkParts(database)),
    ];
  const detail = `${applied} of ${known} applied`;
  const remedy =
    applied < known
      ? 'start the service once: it migrates the database'
      : 'this program is older than the one that wrote the database; run the newer one';
  return [...findings, failed('migrations', detail, remedy)];
}

async function describeReplays(database: Database): Promise<Finding> {
  const [newest] = await listUnfinished(database, 'MINER_COUNTER', 'filling');
  if (newest === undefined) return ok('replays', 'none is unfinished');
  return ok(
    'replays',
    `one that begins after message ${findFillBase(newest)} is under way or was stopped: the same command continues it`,
  );
}

async function findIncompatibility(database: Database): Promise<DatabaseIncompatible | null> {
  try {
    await requireUsable(database);
  } catch (error) {
    if (error instanceof DatabaseIncompatible) return error;
    if (!(error instanceof DatabaseTooNew)) throw error;
  }
  return null;
}

/** ClickHouse may have set parts aside: their rows are missing, but no statement fails. */
async function checkParts(database: Database): Promise<Finding[]> {
  const damaged = await findDamagedParts(database);
  if (damaged.length === 0) return [ok('parts', 'none is damaged')];
  return damaged.map(({ table, count }) =>
    failed(
      'parts',
      `ClickHouse has set ${count} damaged part${count === 1 ? '' : 's'} of ${table} aside`,
      'deploy/RUNBOOK.md, "Damaged files"',
    ),
  );
}
