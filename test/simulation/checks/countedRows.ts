import type { InputStreamName } from '../../../actors/messages/subjects.ts';
import { decides } from '../../../storage/runs/lineages.ts';
import type { SimulatedClickHouse } from '../clickhouse/clickHouseServer.ts';
import type { SqlValue } from '../clickhouse/evaluate.ts';

/** The stored rows of a table that count by the newest lineage of their stream, each once, in order of a column. */
export function selectCounted(
  clickHouse: SimulatedClickHouse,
  stream: InputStreamName,
  { columns, table, order }: { readonly columns: string; readonly table: string; readonly order: string },
): SqlValue[][] {
  const [row] = clickHouse.query(
    `SELECT runs, throughs FROM lineages WHERE stream = {stream:String} AND ${decides}
     ORDER BY epoch DESC, holder DESC, step DESC LIMIT 1`,
    { stream },
  );
  const [runs = [], throughs = []] = (row ?? []) as (readonly SqlValue[])[];
  const counted = clickHouse
    .query(`SELECT run, stored_by, ${columns} FROM ${table} FINAL ORDER BY ${order}`, {})
    .filter(([run, storedBy]) =>
      runs.some((one, at) => one === run && Number(storedBy) <= Number(throughs[at])),
    )
    .map(([, , ...values]) => values);
  return [...new Map(counted.map((values) => [values.map(String).join('\u0001'), values])).values()];
}
