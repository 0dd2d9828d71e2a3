import { group } from 'd3-array';
import { measured, observeBuckets, observeRounds, type Reading } from '../../reference/acceptedReadings.ts';
import type { SimulatedClickHouse } from '../clickhouse/simulatedClickHouse.ts';
import { selectCounted } from './countedRows.ts';
import { findDifference, SimulationFailure } from './failure.ts';

const roundMs = 600_000;
const start = 'toUnixTimestamp64Milli(start)';

/** Stored columns of a reading. */
const members = [
  ...(['installationId', 'position', 'telemetryId', 'bootId', 'sequence', 'observedAtMs'] as const),
  ...(['receivedAtMs', 'counterEpoch', 'cumulativeWorkUnits', 'provenance', 'softwareVersion'] as const),
  'coreStatus' as const,
  ...measured,
];
const nameColumn = (member: string) => {
  const name = member.replace(/Ms$/, '').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return member.endsWith('Ms') ? `toUnixTimestamp64Milli(${name})` : name;
};

/** Checks that the stored readings, rounds and half hours that count equal the reference's, each once. */
export function checkStored(
  clickHouse: SimulatedClickHouse,
  accepted: readonly Reading[],
  genesisMs: number,
): void {
  const select = (columns: string, table: string) =>
    selectCounted(clickHouse, 'MINER_COUNTER', { columns, table, order: 'position' });
  compareRows(
    'readings',
    accepted.map((one) => members.map((member) => one[member])),
    select(members.map(nameColumn).join(', '), 'stored_readings'),
  );
  const rows = [...group(accepted, ({ installationId }) => installationId)].map(([id, readings]) =>
    listRows(id, readings, genesisMs),
  );
  compareRows(
    'rounds',
    sortRows(rows.flatMap(({ rounds }) => rounds)),
    sortRows(select(`installation_id, ${start}, position, work_units`, 'stored_rounds')),
  );
  compareRows(
    'half hours',
    sortRows(rows.flatMap(({ buckets }) => buckets)),
    sortRows(
      select(
        `installation_id, ${start}, position, work_units, observed_round_count, reading_count, max_distance_mm`,
        'stored_half_hour_buckets',
      ),
    ),
  );
  for (const table of ['stored_readings', 'stored_rounds', 'stored_half_hour_buckets'])
    checkVersions(clickHouse, table);
}

/** Rows of one installation. The position of a row is the reading that ended its period. */
function listRows(installationId: string, readings: readonly Reading[], genesisMs: number) {
  const rounds = [...observeRounds(readings, genesisMs)].map(([startMs, work]): unknown[] => {
    const closing = readings.find(({ observedAtMs }) => observedAtMs >= startMs + roundMs) as Reading;
    return [installationId, startMs, closing.position, work];
  });
  const buckets = observeBuckets(readings, genesisMs).map(({ bucket, closing }): unknown[] => {
    const { startMs, workUnits, observedRoundCount, readingCount, maxDistanceMm } = bucket;
    return [
      installationId,
      startMs,
      closing.position,
      workUnits,
      observedRoundCount,
      readingCount,
      maxDistanceMm,
    ];
  });
  return { rounds, buckets };
}

function compareRows(what: string, expected: readonly unknown[][], found: readonly string[][]) {
  const texts = expected.map((values) => values.map(String));
  const difference = findDifference(texts, found);
  if (difference !== null) throw new SimulationFailure('stored rows', `${what}, ${difference}`);
}

function sortRows<Row extends readonly unknown[]>(rows: Row[]): Row[] {
  const keyOf = (row: Row) => `${row[0]} ${String(row[1]).padStart(20)}`;
  return rows.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}

/** Checks that rewritten rows of a run are identical, so that any of them may stay. */
function checkVersions(clickHouse: SimulatedClickHouse, table: string) {
  const period = table === 'stored_rounds' ? 'round_id' : table === 'stored_readings' ? 'position' : 'start';
  const [version] = clickHouse.select(
    `SELECT run, installation_id, ${period}, position FROM ${table}
     GROUP BY run, installation_id, ${period}, position HAVING uniqExact(toString(tuple(*))) > 1`,
  );
  if (version !== undefined)
    throw new SimulationFailure('stored rows', `${table} has two rows of one version: ${version.join(' ')}`);
}
