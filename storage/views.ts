import type { Database } from './database.ts';
import { chainCheckpoints, chainSettlements } from './tables/chainSettlements.ts';
import { measurementEvents } from './tables/events.ts';
import { halfHourBuckets } from './tables/halfHourBuckets.ts';
import { ownerActivity } from './tables/ownerActivity.ts';
import { readings } from './tables/readings.ts';
import { rounds } from './tables/rounds.ts';
import { sqlString } from './tables/sqlString.ts';
import { onCluster, type StoredColumn } from './tables/table.ts';
import type { Tables } from './tables.ts';

/** A view for whoever queries the database, by a name that stays when tables are replaced. */
interface View {
  readonly name: string;
  readonly comment: string;
  readonly columns: readonly Pick<StoredColumn, 'name' | 'type' | 'comment'>[];
  readonly select: string;
}

/**
 * Replaces the views of the tables of a generation, one after another. The service itself never reads them: the pointer says which generation is
 * the active one, and moves first. A process that is killed in between leaves views of the generation before, whose tables stay until the next
 * replay; whatever starts next replaces them.
 */
export async function replaceViews(database: Database, tables: Tables): Promise<void> {
  for (const { name, columns, select, comment } of listViews(tables)) {
    const definitions = columns.map(
      (column) => `${column.name} ${column.type}${writeComment(column.comment)}`,
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
      comment:
        'Events of the feed that are older than those in the memory of the service: what the readings reached, and what happened on the chain',
      columns: [
        { name: 'source', type: 'LowCardinality(String)', comment: 'measurement or chain' },
        ...eventColumns,
      ],
      // An event that an earlier run of the fold has stored as well is there twice.
      select: `SELECT * FROM (
          ${selectEvents('measurement', tables.measurementEvents.events)}
          UNION ALL ${selectEvents('chain', tables.chainEvents.events)}
        ) ORDER BY id, arrived_at DESC LIMIT 1 BY id`,
    },
    buildChainView({ ...ownerActivity, name: 'owner_activity' }, tables.ownerActivity, ['owner']),
    buildChainView({ ...chainSettlements, name: 'settlements' }, tables.settlements),
    buildChainView({ ...chainCheckpoints, name: 'checkpoints' }, tables.checkpoints),
  ];
}

interface ViewedTable {
  readonly name: string;
  readonly comment: string | null;
  readonly storedColumns: readonly StoredColumn[];
}

/** The rows of a table, each once. */
function buildView({ name, comment, storedColumns }: ViewedTable, table: string): View {
  const select = `SELECT ${listNames(storedColumns)} FROM ${table} FINAL`;
  return { name, comment: comment ?? '', columns: storedColumns, select };
}

/** The rows of a table of the chain's history. What an earlier run of the fold has stored as well is there twice. */
function buildChainView(
  { name, comment, storedColumns }: ViewedTable,
  table: string,
  keys: readonly string[] = [],
): View {
  const logged = [...keys, 'block_number', 'transaction_hash', 'log_index'].join(', ');
  const select = `SELECT ${listNames(storedColumns)} FROM ${table} FINAL
    ORDER BY ${logged}, position DESC LIMIT 1 BY ${logged}`;
  return { name, comment: comment ?? '', columns: storedColumns, select };
}

function listNames(columns: readonly Pick<StoredColumn, 'name'>[]): string {
  return columns.map(({ name }) => name).join(', ');
}

function writeComment(comment: string | null): string {
  return comment === null ? '' : ` COMMENT ${sqlString(comment)}`;
}
