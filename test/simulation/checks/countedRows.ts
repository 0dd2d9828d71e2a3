import type { InputStreamName } from '../../../actors/messages/subjects.ts';
import { counting } from '../../../storage/runs/lineages.ts';
import type { SimulatedClickHouse } from '../clickhouse/simulatedClickHouse.ts';

/** The stored rows of a table that count by the newest lineage of their stream, each once, in order of a column. Values are texts. */
export function selectCounted(
  clickHouse: SimulatedClickHouse,
  stream: InputStreamName,
  { columns, table, order }: { readonly columns: string; readonly table: string; readonly order: string },
): string[][] {
  const counted = clickHouse.select(
    `WITH (
       SELECT (runs, throughs) FROM lineages WHERE stream = {stream:String} AND ${counting}
       ORDER BY epoch DESC, holder DESC, step DESC LIMIT 1
     ) AS newest
     SELECT ${columns} FROM ${table} FINAL
     WHERE arrayExists((one, through) -> run = one AND stored_by <= through, newest.1, newest.2)
     ORDER BY ${order}`,
    { stream },
  );
  const rows = counted.map((values) => values.map(String));
  return [...new Map(rows.map((values) => [values.join('\u0001'), values])).values()];
}
