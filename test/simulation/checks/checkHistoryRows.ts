import type { SimulatedClickHouse } from '../clickhouse/clickHouseServer.ts';
import { findDifference, SimulationFailure } from './failure.ts';

const tables = ['chain_owner_activity', 'chain_settlements', 'chain_checkpoints'];

/** History of the chain that has become rows: those of the run that is shown are the same as in a database that knew no fault. */
export function checkHistoryRows(stored: SimulatedClickHouse, fresh: SimulatedClickHouse): void {
  for (const name of tables) {
    const rows = readRows(fresh, name);
    const runs = new Set(rows.map(([run]) => run));
    const difference = findDifference(
      sort(rows),
      sort(readRows(stored, name).filter(([run]) => runs.has(run))),
    );
    if (difference !== null) throw new SimulationFailure('history rows', `${name}, ${difference}`);
  }
}

/** Those that nothing replaces, each behind its run. A fold that rewinds stores a row because of a later message. */
function readRows(database: SimulatedClickHouse, name: string): unknown[][] {
  const table = database.tables.get(name);
  if (table === undefined) throw new SimulationFailure('history rows', `there is no table ${name}`);
  const storedBy = [table.indexOf('stored_by'), table.indexOf('stored_at')];
  return table
    .final()
    .map(({ values }) => [
      values[table.indexOf('run')],
      ...values.filter((_, index) => !storedBy.includes(index)),
    ]);
}

const sort = (rows: readonly unknown[][]) =>
  rows.toSorted((one, other) => (one.map(String).join('\t') < other.map(String).join('\t') ? -1 : 1));
