import { randomUUID } from 'node:crypto';
import type { Database } from './database.ts';
import { StorageUnavailable } from './storageUnavailable.ts';

/** What tells this process whether it is the one that ingests. */
export interface IngestLease {
  /** Whether it holds the lease at this moment, as far as its own clock can tell. */
  isHeld(): boolean;
}

/** The name by which processes that write the same database know one another; it is made once. */
export async function databaseIdentity(database: Database): Promise<string> {
  await database.command(
    'CREATE TABLE IF NOT EXISTS database_identity (id String) ENGINE = MergeTree() ORDER BY id',
  );
  const read = async () => {
    // Where two processes created it at the same moment, both take the same one of the two.
    const [row] = await database.select('SELECT id FROM database_identity ORDER BY id LIMIT 1');
    return (row?.[0] as string | undefined) ?? null;
  };
  const known = await read();
  if (known !== null) return known;
  await database.insert('database_identity', ['id'], [[randomUUID()]]);
  return (await read()) as string;
}

/** Begins the next epoch. Writers of earlier ones are refused from now on. To be called while the lease is held. */
export async function beginEpoch(database: Database, holder: string, nowMs: number): Promise<number> {
  const epoch = (await newestEpoch(database)) + 1;
  await database.insert('ingest_epochs', ['epoch', 'holder', 'at_ms'], [[epoch, holder, nowMs]]);
  return epoch;
}

/**
 * The database as the process that ingests writes it. Rows are refused while the lease is not held; everything that removes
 * something is refused as well once another process has begun an epoch. Rows need no more than that: they have natural keys, so
 * that a row that is written late by the one that was replaced is the row that its successor writes.
 */
export function fenceDatabase(database: Database, lease: IngestLease, epoch: number): Database {
  function requireLease() {
    if (!lease.isHeld())
      throw new StorageUnavailable('the ingest lease is not held at the moment, so nothing is written');
  }

  return {
    ...database,
    insert: async (...rows) => {
      requireLease();
      await database.insert(...rows);
    },
    insertBytes: async (...rows) => {
      requireLease();
      await database.insertBytes(...rows);
    },
    command: async (sql) => {
      requireLease();
      const newest = await newestEpoch(database);
      if (newest !== epoch)
        throw new StorageUnavailable(
          `epoch ${newest} of ingest has begun, this process writes in epoch ${epoch}`,
        );
      await database.command(sql);
    },
  };
}

async function newestEpoch(database: Database): Promise<number> {
  const [row] = await database.select('SELECT max(epoch) FROM ingest_epochs');
  return Number(row?.[0] ?? 0);
}
