import type { Database } from './database.ts';
import type { ActiveTables } from './tables.ts';

interface KnownInstallationsOptions {
  readonly database: Database;
  readonly tables: ActiveTables;
  /** Whether the fold has accepted readings of this installation, or may have forgotten that. */
  readonly isFolded: (installationId: string) => boolean;
  /** Longest list of installations; if there are more, ClickHouse is asked each time. */
  readonly max: number;
}

export type MayHaveReadings = (installationId: string) => boolean | Promise<boolean>;

/**
 * Tells whether ClickHouse may hold readings of an installation. Usually answers without asking it, since anyone can ask for made-up installations:
 * rows of an installation that the fold does not know are older than the state (an incomplete replay leaves them). They can only become fewer, so they
 * are listed once per generation, at the first question.
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
