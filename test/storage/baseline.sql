CREATE TABLE aged_rows
(
    `gone_before_ms` Int64 COMMENT 'Rows received before this time may be gone (epoch milliseconds)',
    `at_ms` Int64 COMMENT 'When the TTL was removed or replaced (epoch milliseconds)'
)
ENGINE = MergeTree
ORDER BY at_ms
SETTINGS index_granularity = 8192
COMMENT 'Earlier TTLs of readings, and which of them they may have removed';

CREATE TABLE fold_states
(
    `snapshot` String,
    `chunk` Int64,
    `stream` String,
    `run` String,
    `fold_version` Int64,
    `configuration` String,
    `stream_created` String,
    `position` Int64,
    `digest` Nullable(String),
    `taken_at_ms` Int64,
    `checksum` String,
    `payload` String
)
ENGINE = MergeTree
PARTITION BY snapshot
ORDER BY (snapshot, chunk)
SETTINGS index_granularity = 8192;

CREATE TABLE ingest_epochs
(
    `epoch` Int64 COMMENT 'Number of the epoch, from 1',
    `holder` String COMMENT 'Host of the process',
    `at_ms` Int64 COMMENT 'When it took over (epoch milliseconds)'
)
ENGINE = MergeTree
ORDER BY epoch
SETTINGS index_granularity = 8192
COMMENT 'Processes that took over the ingest';

CREATE TABLE lineages
(
    `stream` String COMMENT 'Stream whose messages made the rows; any, with the cause retired',
    `epoch` UInt64 COMMENT 'Epoch of the process that noted it',
    `holder` String COMMENT 'The process; the last one in order counts, if several have the epoch',
    `step` UInt64 COMMENT 'Number among the lineages of the process, from 1',
    `cause` String COMMENT 'counts, ended, pending, filling, filled, merged, retired',
    `reason` String COMMENT 'Why the last run was begun or continued: begun, continued, diverged, rewound, replayed; empty with the other causes',
    `runs` Array(String) COMMENT 'Runs whose rows count, oldest first; with the causes merged and retired, the runs that this happened to',
    `throughs` Array(UInt64) COMMENT 'Last message of each run whose rows count',
    `fold_version` Int64 COMMENT 'Version of the fold',
    `configuration` String COMMENT 'Digest of the configuration of the fold',
    `stream_created` String COMMENT 'When the stream was created',
    `position` UInt64 COMMENT 'Last folded message',
    `continued_run` String COMMENT 'Last run that it continues; empty for none',
    `noted_at_ms` Int64 COMMENT 'When it was noted (epoch milliseconds)'
)
ENGINE = MergeTree
ORDER BY (stream, epoch, holder, step)
SETTINGS index_granularity = 8192
COMMENT 'Which rows of a stream count. Of the rows whose cause is counts or ended, the one with the highest epoch, holder and step says it';

CREATE TABLE migrations
(
    `number` Int64 COMMENT 'Number of the migration, from 1',
    `name` String COMMENT 'Name of the migration'
)
ENGINE = MergeTree
ORDER BY number
SETTINGS index_granularity = 8192
COMMENT 'Applied migrations';

CREATE TABLE stored_chain_events
(
    `run` LowCardinality(String) COMMENT 'Run that stored the row; see lineages',
    `category` Enum8('measurement' = 1, 'protocol' = 2, 'players' = 3) COMMENT 'Category of the feed',
    `installation_id` LowCardinality(String) COMMENT 'Installation; empty for an event of the chain',
    `position` UInt64 COMMENT 'Sequence in MINER_CHAIN of the message that made the event visible' CODEC(Delta(8), ZSTD(1)),
    `ordinal` UInt32 COMMENT 'Place among the events of that message, from 0',
    `id` String COMMENT 'ID of the event in the feed' CODEC(ZSTD(1)),
    `type` LowCardinality(String) COMMENT 'Type of the event',
    `recorded_at` DateTime64(3, 'UTC') COMMENT 'Time by which the feed is ordered' CODEC(Delta(8), ZSTD(1)),
    `arrived_at` DateTime64(3, 'UTC') COMMENT 'When the stream stored that message' CODEC(Delta(8), ZSTD(1)),
    `event` String COMMENT 'The event as JSON' CODEC(ZSTD(3)),
    `stored_by` UInt64 COMMENT 'Sequence in MINER_CHAIN of the message whose folding stored the row' CODEC(Delta(8), ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY run
ORDER BY (run, category, position, ordinal, stored_by)
SETTINGS index_granularity = 256
COMMENT 'Chain events of the feed that memory has evicted, in order of arrival';

CREATE TABLE stored_chain_events_keys
(
    `run` LowCardinality(String) COMMENT 'Run that stored the row; see lineages',
    `key` String COMMENT 'What the event is found by, such as its category, or an owner and a type' CODEC(ZSTD(1)),
    `installation_id` LowCardinality(String) COMMENT 'Installation; empty for an event of the chain',
    `recorded_at` DateTime64(3, 'UTC') COMMENT 'Time by which the feed is ordered' CODEC(Delta(8), ZSTD(1)),
    `position` UInt64 COMMENT 'Sequence in MINER_CHAIN of the message that made the event visible' CODEC(Delta(8), ZSTD(1)),
    `ordinal` UInt32 COMMENT 'Place among the events of that message, from 0',
    `stored_by` UInt64 COMMENT 'Sequence in MINER_CHAIN of the message whose folding stored the row' CODEC(Delta(8), ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY run
ORDER BY (run, key, recorded_at, position, ordinal, stored_by)
SETTINGS index_granularity = 256
COMMENT 'Places of the events in stored_chain_events, by category, type, owner, miner, transaction, block and achievement';

CREATE TABLE stored_half_hour_buckets
(
    `run` LowCardinality(String) COMMENT 'Run that stored the row; see lineages',
    `installation_id` LowCardinality(String) COMMENT 'Installation of the wheel',
    `start` DateTime64(3, 'UTC') COMMENT 'Start of the half hour' CODEC(DoubleDelta, ZSTD(1)),
    `observed_round_count` UInt8 COMMENT 'Observed rounds of the half hour, 0 to 3',
    `work_units` Nullable(UInt256) COMMENT 'Work of its observed rounds in work units; null above 2^256 - 1' CODEC(ZSTD(1)),
    `reading_count` UInt64 COMMENT 'Accepted readings',
    `max_distance_mm` UInt64 COMMENT 'Largest distance of a reading in millimetres',
    `peak_rpm_milli` UInt64 COMMENT 'Largest rotation speed of a reading in thousandths of a revolution per minute',
    `peak_rpm_at` DateTime64(3, 'UTC') COMMENT 'When the first reading with that maximum was observed',
    `peak_speed_mm_per_second` UInt64 COMMENT 'Largest speed of a reading in millimetres per second',
    `peak_speed_at` DateTime64(3, 'UTC') COMMENT 'When the first reading with that maximum was observed',
    `position` UInt64 COMMENT 'Sequence in MINER_COUNTER of the reading that closed the half hour' CODEC(Delta(8), ZSTD(1)),
    `stored_by` UInt64 COMMENT 'Sequence in MINER_COUNTER of the message whose folding stored the row' CODEC(Delta(8), ZSTD(1))
)
ENGINE = ReplacingMergeTree(position)
PARTITION BY (run, toYYYYMM(start))
ORDER BY (run, installation_id, start)
SETTINGS index_granularity = 8192
COMMENT 'Half hours with readings, by time of observation';

CREATE TABLE stored_measurement_events
(
    `run` LowCardinality(String) COMMENT 'Run that stored the row; see lineages',
    `category` Enum8('measurement' = 1, 'protocol' = 2, 'players' = 3) COMMENT 'Category of the feed',
    `installation_id` LowCardinality(String) COMMENT 'Installation; empty for an event of the chain',
    `position` UInt64 COMMENT 'Sequence in MINER_COUNTER of the message that made the event visible' CODEC(Delta(8), ZSTD(1)),
    `ordinal` UInt32 COMMENT 'Place among the events of that message, from 0',
    `id` String COMMENT 'ID of the event in the feed' CODEC(ZSTD(1)),
    `type` LowCardinality(String) COMMENT 'Type of the event',
    `recorded_at` DateTime64(3, 'UTC') COMMENT 'Time by which the feed is ordered' CODEC(Delta(8), ZSTD(1)),
    `arrived_at` DateTime64(3, 'UTC') COMMENT 'When the stream stored that message' CODEC(Delta(8), ZSTD(1)),
    `event` String COMMENT 'The event as JSON' CODEC(ZSTD(3)),
    `stored_by` UInt64 COMMENT 'Sequence in MINER_COUNTER of the message whose folding stored the row' CODEC(Delta(8), ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY run
ORDER BY (run, category, position, ordinal, stored_by)
SETTINGS index_granularity = 256
COMMENT 'Measurement events of the feed that memory has evicted, in order of arrival';

CREATE TABLE stored_measurement_events_keys
(
    `run` LowCardinality(String) COMMENT 'Run that stored the row; see lineages',
    `key` String COMMENT 'What the event is found by, such as its category, or an owner and a type' CODEC(ZSTD(1)),
    `installation_id` LowCardinality(String) COMMENT 'Installation; empty for an event of the chain',
    `recorded_at` DateTime64(3, 'UTC') COMMENT 'Time by which the feed is ordered' CODEC(Delta(8), ZSTD(1)),
    `position` UInt64 COMMENT 'Sequence in MINER_COUNTER of the message that made the event visible' CODEC(Delta(8), ZSTD(1)),
    `ordinal` UInt32 COMMENT 'Place among the events of that message, from 0',
    `stored_by` UInt64 COMMENT 'Sequence in MINER_COUNTER of the message whose folding stored the row' CODEC(Delta(8), ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY run
ORDER BY (run, key, recorded_at, position, ordinal, stored_by)
SETTINGS index_granularity = 256
COMMENT 'Places of the events in stored_measurement_events, by category, type, owner, miner, transaction, block and achievement';

CREATE TABLE stored_owner_activity
(
    `run` LowCardinality(String) COMMENT 'Run that stored the row; see lineages',
    `owner` String COMMENT 'Owner whose activity it is' CODEC(ZSTD(1)),
    `event_number` UInt64 COMMENT 'Number of the event in the activity of the owner, from 0' CODEC(Delta(8), ZSTD(1)),
    `kind` Enum8('mint' = 1, 'merge' = 2, 'claim' = 3, 'transfer' = 4) COMMENT 'mint, merge, claim or transfer',
    `contract_address` String COMMENT 'Contract that logged it' CODEC(ZSTD(1)),
    `token_ids` Array(UInt256) COMMENT 'Tokens; for a merge the survivor, then the donor' CODEC(ZSTD(1)),
    `amount_base_units` Nullable(UInt256) COMMENT 'Base units that a claim paid; null for others' CODEC(ZSTD(1)),
    `from_address` Nullable(String) COMMENT 'Giver of a transfer' CODEC(ZSTD(1)),
    `to_address` Nullable(String) COMMENT 'Receiver of a mint, a claim or a transfer' CODEC(ZSTD(1)),
    `level` Nullable(UInt8) COMMENT 'Level after a mint or a merge',
    `effective_round` Nullable(UInt64) COMMENT 'Round from which the weight counts' CODEC(ZSTD(1)),
    `next_merge_block` Nullable(UInt64) COMMENT 'Block of work from which the token may be merged again' CODEC(ZSTD(1)),
    `block_number` UInt64 COMMENT 'Block of the chain' CODEC(Delta(8), ZSTD(1)),
    `block_hash` String COMMENT 'Hash of the block' CODEC(ZSTD(1)),
    `block_timestamp` DateTime64(3, 'UTC') COMMENT 'Time of the block' CODEC(Delta(8), ZSTD(1)),
    `transaction_hash` String COMMENT 'Transaction that logged it' CODEC(ZSTD(1)),
    `transaction_index` UInt32 COMMENT 'Place of the transaction in the block',
    `log_index` UInt32 COMMENT 'Place of the log in the block',
    `position` UInt64 COMMENT 'Sequence in MINER_CHAIN of the message that made the block safe; 1 if unknown' CODEC(Delta(8), ZSTD(1)),
    `stored_by` UInt64 COMMENT 'Sequence in MINER_CHAIN of the message whose folding stored the row' CODEC(Delta(8), ZSTD(1)),
    INDEX block_number_range block_number TYPE minmax GRANULARITY 1,
    INDEX transaction_hash_filter transaction_hash TYPE bloom_filter GRANULARITY 8
)
ENGINE = ReplacingMergeTree
PARTITION BY run
ORDER BY (run, owner, event_number, stored_by)
SETTINGS index_granularity = 256, min_bytes_for_wide_part = 1073741824
COMMENT 'Activity of owners and their tokens on the chain, in final blocks';

CREATE TABLE stored_readings
(
    `run` LowCardinality(String) COMMENT 'Run that stored the row; see lineages',
    `installation_id` LowCardinality(String) COMMENT 'Installation of the wheel' CODEC(ZSTD(1)),
    `position` UInt64 COMMENT 'Sequence of its message in MINER_COUNTER' CODEC(DoubleDelta, ZSTD(1)),
    `telemetry_id` UUID COMMENT 'ID that the gateway gave the reading' CODEC(ZSTD(1)),
    `boot_id` UUID COMMENT 'Boot of the device' CODEC(ZSTD(1)),
    `sequence` UInt64 COMMENT 'Number of the reading since that boot, from 0' CODEC(DoubleDelta, ZSTD(1)),
    `observed_at` DateTime64(3, 'UTC') COMMENT 'When the device read its counter' CODEC(Delta(8), ZSTD(1)),
    `received_at` DateTime64(3, 'UTC') COMMENT 'When the gateway received it' CODEC(DoubleDelta, ZSTD(1)),
    `counter_epoch` UUID COMMENT 'Epoch of the counter: within one it never falls' CODEC(ZSTD(1)),
    `cumulative_work_units` UInt256 COMMENT 'Work since the epoch of the counter began, in work units' CODEC(ZSTD(1)),
    `provenance` Enum8('hardware' = 1, 'simulated' = 2, 'replay' = 3, 'derived' = 4) COMMENT 'Where the reading comes from' CODEC(ZSTD(1)),
    `software_version` Nullable(String) COMMENT 'Software of the device; null if unknown',
    `core_status` Enum8('IDLE' = 1, 'ACTIVE' = 2, 'COUNTER_FAULT' = 3) COMMENT 'State of the counter' CODEC(ZSTD(1)),
    `rpm_milli` UInt64 COMMENT 'Thousandths of a revolution per minute' CODEC(DoubleDelta, ZSTD(1)),
    `speed_mm_per_second` UInt64 COMMENT 'Speed of the rim in millimetres per second' CODEC(DoubleDelta, ZSTD(1)),
    `distance_mm` UInt64 COMMENT 'Distance of the rim in millimetres' CODEC(T64, ZSTD(1)),
    `stored_by` UInt64 COMMENT 'Sequence in MINER_COUNTER of the message whose folding stored the row' CODEC(Delta(8), ZSTD(1)),
    INDEX stored_by_range stored_by TYPE minmax GRANULARITY 1,
    INDEX observed_at_range observed_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(position)
PARTITION BY (run, toYYYYMM(observed_at))
ORDER BY (run, installation_id, position)
SETTINGS index_granularity = 8192
COMMENT 'Accepted readings of the wheels, one row each';

CREATE TABLE stored_rounds
(
    `run` LowCardinality(String) COMMENT 'Run that stored the row; see lineages',
    `installation_id` LowCardinality(String) COMMENT 'Installation of the wheel',
    `round_id` UInt32 COMMENT 'Number of the round; 1 starts at the genesis' CODEC(DoubleDelta, ZSTD(1)),
    `start` DateTime64(3, 'UTC') COMMENT 'Start of the round' CODEC(DoubleDelta, ZSTD(1)),
    `work_units` Nullable(UInt256) COMMENT 'Work in work units; null above 2^256 - 1' CODEC(ZSTD(1)),
    `position` UInt64 COMMENT 'Sequence in MINER_COUNTER of the reading that closed the round' CODEC(Delta(8), ZSTD(1)),
    `stored_by` UInt64 COMMENT 'Sequence in MINER_COUNTER of the message whose folding stored the row' CODEC(Delta(8), ZSTD(1))
)
ENGINE = ReplacingMergeTree(position)
PARTITION BY (run, toYYYYMM(start))
ORDER BY (run, installation_id, round_id)
SETTINGS index_granularity = 8192
COMMENT 'Rounds of 600 seconds that were observed in full; a missing round has no row';

INSERT INTO migrations (number, name) VALUES (2, 'baseline')
