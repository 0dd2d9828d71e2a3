import { OperatorError } from '../../actors/operatorError.ts';
import type { Database } from './database.ts';

/** Oldest version with everything that the tables and statements need. */
const oldestServer = { year: 24, release: 8 } as const;

export async function readServerVersion(database: Pick<Database, 'select'>, signal?: AbortSignal) {
  const [row] = await database.select('SELECT version()', {}, signal);
  return String(row?.[0]);
}

export function isSupportedVersion(version: string): boolean {
  const [year = 0, release = 0] = version.split('.').map(Number);
  return year > oldestServer.year || (year === oldestServer.year && release >= oldestServer.release);
}

/**
 * Makes sure that the server can hold the tables, before anything is read or created.
 *
 * @throws OperatorError when it cannot.
 * @throws StoreUnavailable when it does not answer.
 */
export async function requireSupportedServer(database: Database): Promise<void> {
  const version = await readServerVersion(database);
  if (!isSupportedVersion(version))
    throw new OperatorError(
      `the ClickHouse server of MINER_CLICKHOUSE_URL is version ${version}; expected ${oldestServer.year}.${oldestServer.release} or newer. ` +
        'Upgrade the server, name another one, or leave the variable unset for the embedded engine',
      { kind: 'unusable', exitStatus: 2 },
    );
}
