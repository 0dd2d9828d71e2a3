import type { InputStreamName } from '../../actors/messages/subjects.ts';
import type { Database } from '../clickhouse/database.ts';
import { sqlString } from '../definition/sqlString.ts';
import { onCluster, type StoredColumn, type Table } from '../definition/table.ts';
import { selectOnce } from '../rows/tableDifferences.ts';
import { decides } from '../runs/lineages.ts';
import { chainCheckpoints, chainSettlements } from '../tables/chainSettlements.ts';
import { chainEvents, measurementEvents } from '../tables/events.ts';
import { halfHourBuckets } from '../tables/halfHourBuckets.ts';
import { lineages } from '../tables/lineages.ts';
import { ownerActivity } from '../tables/ownerActivity.ts';
import { readings } from '../tables/readings.ts';
import { rounds } from '../tables/rounds.ts';

/** A view for ad-hoc queries, which shows each row that counts once. */
interface View {
  readonly name: string;
  readonly comment: string;
  readonly columns: readonly Pick<StoredColumn, 'name' | 'type' | 'comment'>[];
  readonly select: string;
}

/** Replaces the views, one after another. The service never reads them. */
export async function replaceViews(database: Database): Promise<void> {
  for (const { name, columns, select, comment } of listViews()) {
    const definitions = columns.map(
      ({ name: column, type, comment: about }) =>
        `${column} ${type}${about === null ? '' : ` COMMENT ${sqlString(about)}`}`,
    );
    await database.command(
      `CREATE OR REPLACE VIEW ${name}${onCluster(database.cluster)} (${definitions.join(', ')}) AS ${select} COMMENT ${sqlString(comment)}`,
    );
  }
}

function listViews(): View[] {
  const eventColumns = measurementEvents.events.storedColumns;
  const selectEvents = (source: string, table: ViewedTable, stream: InputStreamName) =>
    `SELECT '${source}' AS source, ${listNames(eventColumns)} FROM ${selectOnce(table, selectCounting(stream))}`;
  return [
    buildView('readings', readings, 'MINER_COUNTER'),
    buildView('rounds', rounds, 'MINER_COUNTER'),
    buildView('half_hour_buckets', halfHourBuckets, 'MINER_COUNTER'),
    {
      name: 'events',
      comment: 'Events of the feed that memory has evicted, from measurements and from the chain',
      columns: [
        { name: 'source', type: 'LowCardinality(String)', comment: 'measurement or chain' },
        ...eventColumns,
      ],
      select: `${selectEvents('measurement', measurementEvents.events, 'MINER_COUNTER')}
          UNION ALL ${selectEvents('chain', chainEvents.events, 'MINER_CHAIN')}`,
    },
    buildView('owner_activity', ownerActivity, 'MINER_CHAIN'),
    buildView('settlements', chainSettlements, 'MINER_CHAIN'),
    buildView('checkpoints', chainCheckpoints, 'MINER_CHAIN'),
  ];
}

type ViewedTable = Pick<Table<never>, 'name' | 'comment' | 'storedColumns' | 'identity'>;

function buildView(name: string, table: ViewedTable, stream: InputStreamName): View {
  const { comment, storedColumns: columns } = table;
  const select = `SELECT ${listNames(columns)} FROM ${selectOnce(table, selectCounting(stream))}`;
  return { name, comment: comment ?? '', columns, select };
}

/** Condition for the rows that the newest lineage of a stream selects. */
function selectCounting(stream: InputStreamName): string {
  return `arrayExists(
    one -> one.1 = run AND stored_by <= one.2,
    (SELECT argMax(arrayZip(runs, throughs), (epoch, holder, step)) FROM ${lineages.name} WHERE stream = '${stream}' AND ${decides})
  )`;
}

function listNames(columns: readonly Pick<StoredColumn, 'name'>[]): string {
  return columns.map(({ name }) => name).join(', ');
}
