import { randomUUID } from 'node:crypto';
import { StoreUnavailable } from '../../actors/pages/olderRows.ts';
import type { Database } from '../clickhouse/database.ts';
import { selectIfPresent } from '../clickhouse/systemTables.ts';
import { insertRows, onCluster, replicate } from '../definition/table.ts';
import { type EpochHolder, ingestEpochs } from '../tables/ingestEpochs.ts';

interface IngestLease {
  /** Whether this process holds the lease now, by its own clock. */
  isHeld(): boolean;
}

/**
 * Name that all processes writing this database agree on. It is a column's name: if several processes create the table at the same moment, one
 * succeeds, and all read its column.
 */
export async function readDatabaseIdentity(database: Database): Promise<string> {
  const id = `id_${randomUUID().replaceAll('-', '')}`;
  const { cluster } = database;
  const engine = cluster === null ? 'MergeTree()' : replicate('MergeTree()', 'database_identity');
  await database.command(
    `CREATE TABLE IF NOT EXISTS database_identity${onCluster(cluster)} (${id} UInt8) ENGINE = ${engine} ORDER BY ${id}`,
  );
  const [row] = await database.select(
    "SELECT name FROM system.columns WHERE database = currentDatabase() AND table = 'database_identity'",
  );
  if (row === undefined) throw new Error('the identity of the database has no column');
  return String(row[0]);
}

interface BeginEpochOptions extends Pick<EpochHolder, 'holder'> {
  readonly lease: IngestLease;
  /** Sequence of the message by which the process holds the lease. */
  readonly leaseSequence: number;
  readonly nowMs: number;
}

/**
 * Begins the next epoch and returns its number. Earlier writers are refused from now on. No two holders of the lease get the same number,
 * since each took it with another message, and a process that lost it before its epoch could be read by others does not begin.
 *
 * @throws StoreUnavailable without the lease, EpochSuperseded if a later epoch has begun meanwhile.
 */
export async function beginEpoch(database: Database, options: BeginEpochOptions): Promise<number> {
  const { lease, leaseSequence, holder, nowMs } = options;
  const before = await readNewestEpoch(database);
  const epoch = Math.max(leaseSequence, before.epoch + 1);
  requireLease(lease);
  await insertRows(database, ingestEpochs, [{ epoch, holder, atMs: nowMs }]);
  const newest = await readNewestEpoch(database);
  if (!isSame(newest, { epoch, holder })) throw new EpochSuperseded(newest.epoch, epoch);
  requireLease(lease);
  return epoch;
}

function isSame(one: EpochHolder, other: EpochHolder): boolean {
  return one.epoch === other.epoch && one.holder === other.holder;
}

function requireLease(lease: IngestLease) {
  if (!lease.isHeld())
    throw new StoreUnavailable('the ingest lease is not held at the moment, so nothing is written');
}

/**
 * This process's epoch is not the newest one. Either another process took over the ingest despite the lease, because the two know the database
 * by different names, or the database lost the epoch.
 */
export class EpochSuperseded extends Error {
  override readonly name = 'EpochSuperseded';

  constructor(newest: number, epoch: number) {
    super(
      newest >= epoch
        ? `another process ingests into this database: epoch ${newest} has begun, this process writes in epoch ${epoch}`
        : `the database was emptied or restored from a backup while this process was running: its newest epoch is ${newest}, this process writes in epoch ${epoch}`,
    );
  }
}

interface FenceOptions extends EpochHolder {
  readonly database: Database;
  readonly lease: IngestLease;
  readonly onSuperseded: (error: EpochSuperseded) => void;
}

export async function isNewestEpoch(options: Omit<FenceOptions, 'lease'>): Promise<boolean> {
  const { database, epoch, onSuperseded } = options;
  const newest = await readNewestEpoch(database);
  if (isSame(newest, options)) return true;
  onSuperseded(new EpochSuperseded(newest.epoch, epoch));
  return false;
}

/**
 * The database for the process that ingests. Without the lease, every write is refused. Commands are also refused once another process began an
 * epoch. Inserts need no such check: a late row of the replaced process is of a run of its own, above what its successor continues.
 */
export function fenceDatabase(options: FenceOptions): Database {
  const { database, lease, epoch } = options;
  return {
    ...database,
    insertBlocks: async (...rows) => {
      requireLease(lease);
      await database.insertBlocks(...rows);
    },
    command: async (sql, parameters) => {
      requireLease(lease);
      if (!(await isNewestEpoch(options)))
        throw new StoreUnavailable(`epoch ${epoch} of ingest is not the newest one, so nothing is changed`);
      await database.command(sql, parameters);
    },
  };
}

const noEpoch: EpochHolder = { epoch: 0, holder: '' };

/** The newest epoch; number 0 before the first. If two processes hold leases of different servers, the order of their IDs decides. */
export async function readNewestEpoch(database: Database): Promise<EpochHolder> {
  const [row] = await selectIfPresent(
    database,
    `SELECT epoch, holder FROM ${ingestEpochs.name} ORDER BY epoch DESC, holder DESC LIMIT 1`,
  );
  return row === undefined ? noEpoch : { epoch: Number(row[0]), holder: String(row[1]) };
}
