import type { Database } from './database.ts';
import type { ActiveTables } from './tables.ts';

interface KnownInstallationsOptions {
  readonly database: Database;
  readonly tables: ActiveTables;
  /** Whether the folded state has accepted readings of it. */
  readonly isFolded: (installationId: string) => boolean;
  /** Installations that are listed; where there are more, ClickHouse is asked for each. */
  readonly max: number;
}

/** Whether ClickHouse may hold readings of an installation. */
export type MayHaveReadings = (installationId: string) => boolean | Promise<boolean>;

/**
 * Says it without ClickHouse, since anyone can ask for installations that nobody has. What the fold knows is known; rows of others are older than the
 * state (an incomplete replay leaves them), and can only become fewer: they are listed once for each generation of tables, at the first question.
 */
export function createKnownInstallations(options: KnownInstallationsOptions): MayHaveReadings {
  const { database, tables, isFolded, max } = options;
  let listedTable = '';
  let listed: ReadonlySet<string> | null = null;
  let listing: Promise<ReadonlySet<string>> | null = null;

  async function list(table: string): Promise<ReadonlySet<string>> {
    try {
      const rows = await database.select(
        `SELECT DISTINCT installation_id FROM ${table} LIMIT {limit:UInt32}`,
        {
          limit: max + 1,
        },
      );
      const installations = new Set(rows.map(([id]) => String(id)));
      if (table === listedTable) listed = installations;
      return installations;
    } finally {
      if (table === listedTable) listing = null;
    }
  }

  const isListed = (installations: ReadonlySet<string>, installationId: string) =>
    installations.size > max || installations.has(installationId);

  return (installationId) => {
    if (isFolded(installationId)) return true;
    const { readings: table } = tables();
    if (table !== listedTable) {
      listedTable = table;
      listed = null;
      listing = null;
    }
    if (listed !== null) return isListed(listed, installationId);
    listing ??= list(table);
    return listing.then((installations) => isListed(installations, installationId));
  };
}
