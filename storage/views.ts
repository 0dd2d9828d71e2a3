import type { Database } from './database.ts';
import { chainCheckpoints, chainSettlements } from './tables/chainSettlements.ts';
import { measurementEvents } from './tables/events.ts';
import { halfHourBuckets } from './tables/halfHourBuckets.ts';
import { lineages } from './tables/lineages.ts';
import { ownerActivity } from './tables/ownerActivity.ts';
import { readings } from './tables/readings.ts';
import { rounds } from './tables/rounds.ts';
import { sqlString } from './tables/sqlString.ts';
import { onCluster, type StoredColumn, type Table } from './tables/table.ts';
import type { Tables } from './tables.ts';

/** A view for ad-hoc queries. Its name stays the same when the tables behind it are replaced. */
interface View {
  readonly name: string;
  readonly comment: string;
  readonly columns: readonly Pick<StoredColumn, 'name' | 'type' | 'comment'>[];
  readonly select: string;
}

/**
 * Replaces the views of a generation, one after another. The service never reads them, and the pointer moves first. If the process is killed
 * meanwhile, some views show the previous generation, whose tables stay until the next replay. The next start replaces them.
 */
export async function replaceViews(database: Database, tables: Tables): Promise<void> {
  for (const { name, columns, select, comment } of listViews(tables)) {
    const definitions = columns.map(
      ({ name: column, type, comment: about }) =>
        `${column} ${type}${about === null ? '' : ` COMMENT ${sqlString(about)}`}`,
    );
    await database.command(
      `CREATE OR REPLACE VIEW ${name}${onCluster(database.cluster)} (${definitions.join(', ')}) AS ${select} COMMENT ${sqlString(comment)}`,
    );
  }
}

function listViews(tables: Tables): View[] {
  const eventColumns = measurementEvents.events.storedColumns;
  const selectEvents = (source: string, table: string) =>
    `SELECT '${source}' AS source, ${listNames(eventColumns)} FROM ${table} FINAL`;
  return [
    buildView(readings, tables.readings),
    buildView(rounds, tables.rounds),
    buildView(halfHourBuckets, tables.halfHourBuckets),
    {
      name: 'events',
      comment: 'Events of the feed that memory has evicted, from measurements and from the chain',
      columns: [
        { name: 'source', type: 'LowCardinality(String)', comment: 'measurement or chain' },
        ...eventColumns,
      ],
      // An earlier run of the fold may have stored the same measurement event.
      select: `SELECT * FROM (
          ${selectEvents('measurement', tables.measurementEvents.events)}
          UNION ALL ${selectEvents('chain', tables.chainEvents.events)} WHERE ${isVisible}
        ) ORDER BY id, arrived_at DESC LIMIT 1 BY id`,
    },
    buildChainView({ ...ownerActivity, name: 'owner_activity' }, tables.ownerActivity),
    buildChainView({ ...chainSettlements, name: 'settlements' }, tables.settlements),
    buildChainView({ ...chainCheckpoints, name: 'checkpoints' }, tables.checkpoints),
  ];
}

type ViewedTable = Pick<Table<never>, 'name' | 'comment' | 'storedColumns'>;

/** The rows of a table, each once. */
function buildView({ name, comment, storedColumns }: ViewedTable, table: string): View {
  const select = `SELECT ${listNames(storedColumns)} FROM ${table} FINAL`;
  return { name, comment: comment ?? '', columns: storedColumns, select };
}

/** The rows of a table of the chain's history that count. */
function buildChainView({ name, comment, storedColumns }: ViewedTable, table: string): View {
  const select = `SELECT ${listNames(storedColumns)} FROM ${table} FINAL WHERE ${isVisible}`;
  return { name, comment: comment ?? '', columns: storedColumns, select };
}

/** Condition for the rows that the newest lineage of the chain selects. */
const isVisible = `arrayExists(
    one -> one.1 = run AND stored_by <= one.2,
    (SELECT argMax(arrayZip(runs, throughs), (epoch, holder, step)) FROM ${lineages.name} WHERE stream = 'MINER_CHAIN')
  )`;

function listNames(columns: readonly Pick<StoredColumn, 'name'>[]): string {
  return columns.map(({ name }) => name).join(', ');
}
