import type { Database } from '../database.ts';

/**
 * Tables as versions before migration 6 have created them: times as integers, amounts as strings. What brings them over reads them,
 * and so may processes of those versions that still run; nothing else does.
 */

/** The pointer of the versions before migration 5, and that of migration 5. */
export const firstPointer = 'active_generation';
export const secondPointer = 'generation_pointer';

/** Partitions of the tables that have any: 30 days of a time in epoch milliseconds, as `intDiv` divides. */
export const untypedPartitionMs = 2_592_000_000;

/** Names of the tables of events of the chain. */
export const untypedChainTables = { ids: 'chain_feed_ids', times: 'chain_feed_times', events: 'chain_feed' };

/** Columns of the tables of snapshots, from migration 5 on. */
export const untypedSnapshotColumns =
  'snapshot, chunk, chunk_count, stream, fold_version, configuration, stream_created, position, digest, taken_at_ms, ordinal, checksum, payload';

/** The generation that a pointer names, the first one without any swap. */
export async function readPointer(database: Database, pointer: string): Promise<number> {
  const [row] = await database.select(`SELECT generation FROM ${pointer} ORDER BY swap DESC LIMIT 1`);
  return Number(row?.[0] ?? 1);
}

export function createPointerStatement(name: string): string {
  return `CREATE TABLE IF NOT EXISTS ${name} (swap Int64, generation Int64) ENGINE = MergeTree() ORDER BY swap`;
}

/** Statements that create the tables of a generation, without those of events. */
export function createUntypedStatements(generation: number): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS readings_g${generation} (
      installation_id String,
      position Int64,
      telemetry_id String,
      boot_id String,
      sequence Int64,
      observed_at_ms Int64,
      received_at_ms Int64,
      counter_epoch String,
      cumulative_work_units String,
      provenance String,
      software_version Nullable(String),
      core_status String,
      rpm_milli Int64,
      speed_mm_per_second Int64,
      distance_mm Int64
    ) ENGINE = ReplacingMergeTree(position)
    PARTITION BY intDiv(observed_at_ms, ${untypedPartitionMs}) ORDER BY (installation_id, position)`,
    `CREATE TABLE IF NOT EXISTS rounds_g${generation} (
      installation_id String,
      round_id Int64,
      start_ms Int64,
      work_units String,
      position Int64
    ) ENGINE = ReplacingMergeTree(position)
    PARTITION BY intDiv(start_ms, ${untypedPartitionMs}) ORDER BY (installation_id, round_id)`,
    `CREATE TABLE IF NOT EXISTS half_hour_buckets_g${generation} (
      installation_id String,
      start_ms Int64,
      observed_round_count UInt8,
      work_units String,
      reading_count Int64,
      max_distance_mm Int64,
      peak_rpm_milli Int64,
      peak_rpm_at_ms Int64,
      peak_speed_mm_per_second Int64,
      peak_speed_at_ms Int64,
      position Int64
    ) ENGINE = ReplacingMergeTree(position)
    PARTITION BY intDiv(start_ms, ${untypedPartitionMs}) ORDER BY (installation_id, start_ms)`,
    `CREATE TABLE IF NOT EXISTS fold_snapshots_g${generation} (
      snapshot String,
      chunk Int64,
      chunk_count Int64,
      stream String,
      fold_version Int64,
      configuration String,
      stream_created String,
      position Int64,
      digest String,
      taken_at_ms Int64,
      ordinal Int64,
      checksum String,
      payload String
    ) ENGINE = MergeTree() PARTITION BY snapshot ORDER BY (snapshot, chunk)`,
  ];
}

/** Statements that create the tables of events of a source. */
export function createUntypedEventStatements(events: string): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS ${events.replace(/(_g\d+)?$/, '_ids$1')} (
      run String,
      id String,
      installation_id String,
      position Int64,
      ordinal Int64,
      arrived_at_ms Int64
    ) ENGINE = ReplacingMergeTree() ORDER BY (run, id) SETTINGS index_granularity = 256`,
    `CREATE TABLE IF NOT EXISTS ${events.replace(/(_g\d+)?$/, '_times$1')} (
      run String,
      category String,
      installation_id String,
      recorded_at_ms Int64,
      position Int64,
      ordinal Int64
    ) ENGINE = ReplacingMergeTree() ORDER BY (run, category, recorded_at_ms, position, ordinal) SETTINGS index_granularity = 256`,
    `CREATE TABLE IF NOT EXISTS ${events} (
      run String,
      category String,
      installation_id String,
      position Int64,
      ordinal Int64,
      id String,
      type String,
      recorded_at_ms Int64,
      arrived_at_ms Int64,
      event String
    ) ENGINE = ReplacingMergeTree() ORDER BY (run, category, position, ordinal) SETTINGS index_granularity = 256`,
  ];
}
