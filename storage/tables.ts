/**
 * Names of the tables of one generation. A replay builds the next generation beside the active one and then moves
 * the pointer (`storage/generations.ts`), so every statement takes its names from here.
 */
export interface Tables {
  readonly generation: number;
  readonly readings: string;
  readonly rounds: string;
  readonly halfHourBuckets: string;
  readonly measurementEvents: EventTables;
  readonly foldSnapshots: string;
  /** The same for all generations: a replay does not fold the chain. */
  readonly chainEvents: EventTables;
}

/** Events of a source that memory has given up, and where to find them. */
export interface EventTables {
  /** The events, in order of arrival. */
  readonly events: string;
  /** Their places in the order of the feed. */
  readonly times: string;
  /** Their places by ID. */
  readonly ids: string;
}

/** In the order in which they are written: what is in the last one is in all of them. */
export function namesOfEventTables({ ids, times, events }: EventTables): string[] {
  return [ids, times, events];
}

/** The tables that are in use at the moment: a swap changes them while the service runs. */
export type ActiveTables = () => Tables;

export function tablesOf(generation: number): Tables {
  return {
    generation,
    readings: `readings_g${generation}`,
    rounds: `rounds_g${generation}`,
    halfHourBuckets: `half_hour_buckets_g${generation}`,
    measurementEvents: {
      events: `measurement_feed_g${generation}`,
      times: `measurement_feed_times_g${generation}`,
      ids: `measurement_feed_ids_g${generation}`,
    },
    foldSnapshots: `fold_snapshots_g${generation}`,
    chainEvents: { events: 'chain_feed', times: 'chain_feed_times', ids: 'chain_feed_ids' },
  };
}

/** Rows are partitioned by 30 days of their time; integer arithmetic, which every server version does alike. */
export const partitionMs = 2_592_000_000;

/** Rows that one mark of an event table stands for: a page is a few of these, whatever the table holds. */
const eventsPerMark = 256;

/**
 * Tables of events; those of both sources have the same columns. They are not partitioned: a page is read from every part of
 * a table that may hold some of it, and parts of different partitions are never merged.
 */
export function createEventsStatements({ events, times, ids }: EventTables): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS ${ids} (
      run String,
      id String,
      installation_id String,
      position Int64,
      ordinal Int64,
      arrived_at_ms Int64
    ) ENGINE = ReplacingMergeTree()
    ORDER BY (run, id) SETTINGS index_granularity = ${eventsPerMark}`,
    `CREATE TABLE IF NOT EXISTS ${times} (
      run String,
      category String,
      installation_id String,
      recorded_at_ms Int64,
      position Int64,
      ordinal Int64
    ) ENGINE = ReplacingMergeTree()
    ORDER BY (run, category, recorded_at_ms, position, ordinal) SETTINGS index_granularity = ${eventsPerMark}`,
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
    ) ENGINE = ReplacingMergeTree()
    ORDER BY (run, category, position, ordinal) SETTINGS index_granularity = ${eventsPerMark}`,
  ];
}

/** Statements that create the tables of a generation; each may be run again. */
export function createStatements(tables: Tables): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS ${tables.readings} (
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
    PARTITION BY intDiv(observed_at_ms, ${partitionMs})
    ORDER BY (installation_id, position)`,
    `CREATE TABLE IF NOT EXISTS ${tables.rounds} (
      installation_id String,
      round_id Int64,
      start_ms Int64,
      work_units String,
      position Int64
    ) ENGINE = ReplacingMergeTree(position)
    PARTITION BY intDiv(start_ms, ${partitionMs})
    ORDER BY (installation_id, round_id)`,
    `CREATE TABLE IF NOT EXISTS ${tables.halfHourBuckets} (
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
    PARTITION BY intDiv(start_ms, ${partitionMs})
    ORDER BY (installation_id, start_ms)`,
    ...createEventsStatements(tables.measurementEvents),
    `CREATE TABLE IF NOT EXISTS ${tables.foldSnapshots} (
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
    ) ENGINE = MergeTree()
    PARTITION BY snapshot
    ORDER BY (snapshot, chunk)`,
  ];
}
