import type { Database } from '../clickhouse/database.ts';
import { readings } from '../tables/readings.ts';

export type MayHaveReadings = (installationId: string) => boolean | Promise<boolean>;

/**
 * Tells whether ClickHouse may hold readings of an installation. Usually answers without asking it, since anyone can ask for made-up installations:
 * rows of an installation that the fold does not know are older than the state, so they are listed once, at the first question.
 */
export function createKnownInstallations(options: {
  readonly database: Database;
  /** Whether the fold has accepted readings of this installation, or may have forgotten that. */
  readonly isFolded: (installationId: string) => boolean;
  /** Longest list of installations; if there are more, ClickHouse is asked each time. */
  readonly max: number;
}): MayHaveReadings {
  const { database, isFolded, max } = options;
  let listing: Promise<ReadonlySet<string>> | null = null;
  let listed: ReadonlySet<string> | null = null;

  async function list(): Promise<ReadonlySet<string>> {
    try {
      const rows = await database.select(
        `SELECT DISTINCT installation_id FROM ${readings.name} LIMIT {limit:UInt32}`,
        { limit: max + 1 },
      );
      listed = new Set(rows.map(([id]) => String(id)));
      return listed;
    } finally {
      listing = null;
    }
  }

  const isListed = (installations: ReadonlySet<string>, installationId: string) =>
    installations.size > max || installations.has(installationId);

  return (installationId) => {
    if (isFolded(installationId)) return true;
    if (listed !== null) return isListed(listed, installationId);
    listing ??= list();
    return listing.then((installations) => isListed(installations, installationId));
  };
}
