import type { SimulatedClickHouse } from '../clickhouse/clickHouseServer.ts';
import type { SqlValue } from '../clickhouse/evaluate.ts';
import { findDifference, SimulationFailure } from './failure.ts';
import type { PlainCounter } from './plainCounter.ts';

/** Everything that is stored of the readings is what the reference says, and each row is there once. */
export function checkStored(clickHouse: SimulatedClickHouse, plain: PlainCounter): void {
  const generation = Number(
    clickHouse.query('SELECT generation FROM generation_in_use ORDER BY swap DESC LIMIT 1', {})[0]?.[0] ?? 1,
  );
  const select = (columns: string, table: string, order: string) =>
    clickHouse.query(`SELECT ${columns} FROM ${table}_g${generation} FINAL ORDER BY ${order}`, {});
  compareRows(
    'readings',
    plain.accepted.map((one) => [
      one.installationId,
      one.position,
      one.telemetryId,
      one.bootId,
      one.sequence,
      one.observedAtMs,
      one.receivedAtMs,
      one.counterEpoch,
      one.counter,
      one.provenance,
      one.softwareVersion,
      one.coreStatus,
      one.rpmMilli,
      one.speedMmPerSecond,
      one.distanceMm,
    ]),
    select(
      'installation_id, position, telemetry_id, boot_id, sequence, observed_at, received_at, counter_epoch, cumulative_work_units, provenance, software_version, core_status, rpm_milli, speed_mm_per_second, distance_mm',
      'readings',
      'position',
    ),
  );
  compareRows(
    'rounds',
    sortRows(plain.rounds.map((one) => [one.installationId, one.startMs, one.workUnits, one.position])),
    sortRows(select('installation_id, start, work_units, position', 'rounds', 'position')),
  );
  compareRows(
    'half hours',
    sortRows(
      plain.buckets.map((one) => [
        one.installationId,
        one.startMs,
        one.workUnits,
        one.position,
        one.observedRoundCount,
        one.readingCount,
        one.maxDistanceMm,
      ]),
    ),
    sortRows(
      select(
        'installation_id, start, work_units, position, observed_round_count, reading_count, max_distance_mm',
        'half_hour_buckets',
        'position',
      ),
    ),
  );
  for (const table of ['readings', 'rounds', 'half_hour_buckets'])
    checkVersions(clickHouse, `${table}_g${generation}`);
}

function compareRows(what: string, expected: readonly SqlValue[][], found: readonly SqlValue[][]) {
  const difference = findDifference(expected, found);
  if (difference !== null) throw new SimulationFailure('stored rows', `${what}, ${difference}`);
}

function sortRows(rows: SqlValue[][]): SqlValue[][] {
  const keyOf = (row: readonly SqlValue[]) => `${row[0]} ${String(row[1]).padStart(20)}`;
  return rows.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}

/** A row that was written more than once is the same each time, so that it does not matter which of them stays. */
function checkVersions(clickHouse: SimulatedClickHouse, name: string) {
  const table = clickHouse.tables.get(name);
  if (table === undefined) throw new SimulationFailure('stored rows', `there is no table ${name}`);
  const position = table.indexOf('position');
  const key = name.startsWith('rounds') ? ['round_id'] : name.startsWith('half') ? ['start'] : [];
  const indexes = ['installation_id', ...key].map(table.indexOf);
  const seen = new Map<string, string>();
  for (const { values } of table.rows) {
    const version = [...indexes, position].map((index) => String(values[index])).join(' ');
    const text = values.map(String).join('\t');
    if ((seen.get(version) ?? text) !== text)
      throw new SimulationFailure('stored rows', `${name} has two rows of one version: ${version}`);
    seen.set(version, text);
  }
}
