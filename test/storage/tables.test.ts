import { describe, expect, it } from 'vitest';
import { rowTables } from '../../storage/rowTables.ts';
import { BlockWriter } from '../../storage/tables/blockWriter.ts';
import { time } from '../../storage/tables/column.ts';
import { chainEvents } from '../../storage/tables/events.ts';
import { foldSnapshots } from '../../storage/tables/foldSnapshots.ts';
import { generationPointer } from '../../storage/tables/generationPointer.ts';
import { generations } from '../../storage/tables/generations.ts';
import { halfHourBuckets } from '../../storage/tables/halfHourBuckets.ts';
import { ingestEpochs } from '../../storage/tables/ingestEpochs.ts';
import { migrations } from '../../storage/tables/migrations.ts';
import { ownerActivity } from '../../storage/tables/ownerActivity.ts';
import { readings } from '../../storage/tables/readings.ts';
import { removals } from '../../storage/tables/removals.ts';
import { replays } from '../../storage/tables/replays.ts';
import { rounds } from '../../storage/tables/rounds.ts';
import { sqlString } from '../../storage/tables/sqlString.ts';
import { createTable, defineTable, insertRows, replicate } from '../../storage/tables/table.ts';
import { everyKind, someValues, type Values } from '../support/storage/everyKind.ts';

describe('a table', () => {
  it('has one column for each value, by its name', () => {
    expect(readings.columns.join(', ')).toBe(
      'installation_id, position, telemetry_id, boot_id, sequence, observed_at, received_at, counter_epoch, ' +
        'cumulative_work_units, provenance, software_version, core_status, rpm_milli, speed_mm_per_second, distance_mm',
    );
    const stored = new Map(halfHourBuckets.storedColumns.map((column) => [column.name, column.type]));
    expect(stored.get('observed_round_count')).toBe('UInt8');
    expect(stored.get('peak_rpm_at')).toBe("DateTime64(3, 'UTC')");
    expect(rounds.partitionExpression).toBe('toYYYYMM(start)');
    const round = { installationId: 'wheel', roundId: 1, workUnits: 0n, position: 1 };
    expect(rounds.findPeriod({ ...round, startMs: 2_592_000_000 * 3 - 1 })).toBe(2);
    expect(rounds.findPeriod({ ...round, startMs: -1 })).toBe(-1);
  });

  it('says what each of its columns means', () => {
    const written = rowTables.map(({ definition }) => definition);
    const others = [generationPointer, generations, ingestEpochs, migrations, removals, replays];
    for (const { name: table, comment, storedColumns } of [...written, ...others]) {
      expect([table, comment]).toEqual([table, expect.stringMatching(/^[A-Z]/)]);
      for (const { name: one, comment: about } of storedColumns)
        expect([table, one, about]).toEqual([table, one, expect.stringMatching(/^\w/)]);
    }
  });

  it('has a statement that creates it, for one server and for a cluster', () => {
    expect(everyKind.createStatement()).toMatchInlineSnapshot(
      `"CREATE TABLE IF NOT EXISTS every_kind_of_column (order Int64, text String, unknown_text String, named LowCardinality(String), perhaps_named Nullable(String), identifier UUID, happened_at DateTime64(3, 'UTC') COMMENT 'When it happened' CODEC(Delta, ZSTD(1)), amount_of_work UInt256, total Nullable(UInt256), many UInt64, some UInt32, few UInt8, one_of_two String, enumerated_one Enum8('one' = 1, 'two' = 2), account String, perhaps_account Nullable(String), block_hash String, transaction_hash String, perhaps_amount Nullable(UInt256), listed Array(UInt256), large UInt64, perhaps_large Nullable(UInt64), perhaps_few Nullable(UInt8), document String) ENGINE = MergeTree() PARTITION BY toYYYYMM(happened_at) ORDER BY order COMMENT 'A table of every kind of column, the test\\'s'"`,
    );
    expect(rounds.createStatement({ name: 'rounds_g2', cluster: "o'ne" })).toMatchInlineSnapshot(
      `"CREATE TABLE IF NOT EXISTS rounds_g2 ON CLUSTER 'o\\'ne' (installation_id LowCardinality(String) COMMENT 'Installation of the wheel', round_id UInt32 COMMENT 'Number of the round; 1 starts at the genesis' CODEC(DoubleDelta, ZSTD(1)), start DateTime64(3, 'UTC') COMMENT 'Start of the round' CODEC(DoubleDelta, ZSTD(1)), work_units Nullable(UInt256) COMMENT 'Work in work units; null above 2^256 - 1' CODEC(ZSTD(1)), position UInt64 COMMENT 'Sequence in MINER_COUNTER of the reading that closed the round' CODEC(Delta, ZSTD(1))) ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/rounds_g2', '{replica}', position) PARTITION BY toYYYYMM(start) ORDER BY (installation_id, round_id) COMMENT 'Rounds of 600 seconds that were observed in full; a missing round has no row'"`,
    );
    expect(chainEvents.ids.createStatement({ cluster: 'one' })).toMatchInlineSnapshot(
      `"CREATE TABLE IF NOT EXISTS chain_feed_events_ids ON CLUSTER 'one' (run LowCardinality(String) COMMENT 'Run of the fold that made the row, named by its first message', id String COMMENT 'ID of the event in the feed' CODEC(ZSTD(1)), installation_id LowCardinality(String) COMMENT 'Installation; empty for an event of the chain', position UInt64 COMMENT 'Sequence of the message that made the event visible, in the stream of its source' CODEC(Delta, ZSTD(1)), ordinal UInt32 COMMENT 'Place among the events of that message, from 0', arrived_at DateTime64(3, 'UTC') COMMENT 'When the stream stored that message' CODEC(Delta, ZSTD(1)), stored_by UInt64 COMMENT 'Sequence in MINER_CHAIN of the message whose folding stored the row' CODEC(Delta, ZSTD(1)), stored_at DateTime64(3, 'UTC') COMMENT 'When the stream stored that message' CODEC(Delta, ZSTD(1))) ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/chain_feed_events_ids', '{replica}') ORDER BY (run, id) SETTINGS index_granularity = 256 COMMENT 'Places of the events in chain_feed_events, by ID'"`,
    );
    expect(ownerActivity.createStatement()).toMatchInlineSnapshot(
      `"CREATE TABLE IF NOT EXISTS chain_owner_activity (run LowCardinality(String) COMMENT 'Run of the fold that made the row, named by its first message', owner String COMMENT 'Owner whose activity it is' CODEC(ZSTD(1)), event_number UInt64 COMMENT 'Number of the event in the activity of the owner, from 0' CODEC(Delta, ZSTD(1)), kind Enum8('mint' = 1, 'merge' = 2, 'claim' = 3, 'transfer' = 4) COMMENT 'mint, merge, claim or transfer', contract_address String COMMENT 'Contract that logged it' CODEC(ZSTD(1)), token_ids Array(UInt256) COMMENT 'Tokens; for a merge the survivor, then the donor' CODEC(ZSTD(1)), amount_base_units Nullable(UInt256) COMMENT 'Base units that a claim paid; null for others' CODEC(ZSTD(1)), from_address Nullable(String) COMMENT 'Giver of a transfer' CODEC(ZSTD(1)), to_address Nullable(String) COMMENT 'Receiver of a mint, a claim or a transfer' CODEC(ZSTD(1)), level Nullable(UInt8) COMMENT 'Level after a mint or a merge', effective_round Nullable(UInt64) COMMENT 'Round from which the weight counts' CODEC(ZSTD(1)), next_merge_block Nullable(UInt64) COMMENT 'Block of work from which the token may be merged again' CODEC(ZSTD(1)), block_number UInt64 COMMENT 'Block of the chain' CODEC(Delta, ZSTD(1)), block_hash String COMMENT 'Hash of the block' CODEC(ZSTD(1)), block_timestamp DateTime64(3, 'UTC') COMMENT 'Time of the block' CODEC(Delta, ZSTD(1)), transaction_hash String COMMENT 'Transaction that logged it' CODEC(ZSTD(1)), transaction_index UInt32 COMMENT 'Place of the transaction in the block', log_index UInt32 COMMENT 'Place of the log in the block', position UInt64 COMMENT 'Sequence in MINER_CHAIN of the message that made the block safe; 1 if unknown' CODEC(Delta, ZSTD(1)), stored_by UInt64 COMMENT 'Sequence in MINER_CHAIN of the message whose folding stored the row' CODEC(Delta, ZSTD(1)), stored_at DateTime64(3, 'UTC') COMMENT 'When the stream stored that message' CODEC(Delta, ZSTD(1))) ENGINE = ReplacingMergeTree(position) ORDER BY (run, owner, event_number) SETTINGS index_granularity = 256, min_bytes_for_wide_part = 1073741824 COMMENT 'Activity of owners and their tokens on the chain, in final blocks'"`,
    );
    expect(readings.createStatement()).toMatchInlineSnapshot(
      `"CREATE TABLE IF NOT EXISTS readings (installation_id LowCardinality(String) COMMENT 'Installation of the wheel' CODEC(ZSTD(1)), position UInt64 COMMENT 'Sequence of its message in MINER_COUNTER' CODEC(DoubleDelta, ZSTD(1)), telemetry_id UUID COMMENT 'ID that the gateway gave the reading' CODEC(ZSTD(1)), boot_id UUID COMMENT 'Boot of the device' CODEC(ZSTD(1)), sequence UInt64 COMMENT 'Number of the reading since that boot, from 0' CODEC(DoubleDelta, ZSTD(1)), observed_at DateTime64(3, 'UTC') COMMENT 'When the device read its counter' CODEC(Delta, ZSTD(1)), received_at DateTime64(3, 'UTC') COMMENT 'When the gateway received it' CODEC(DoubleDelta, ZSTD(1)), counter_epoch UUID COMMENT 'Epoch of the counter: within one it never falls' CODEC(ZSTD(1)), cumulative_work_units UInt256 COMMENT 'Work since the epoch of the counter began, in work units' CODEC(ZSTD(1)), provenance Enum8('hardware' = 1, 'simulated' = 2, 'replay' = 3, 'derived' = 4) COMMENT 'Where the reading comes from' CODEC(ZSTD(1)), software_version Nullable(String) COMMENT 'Software of the device; null if unknown', core_status Enum8('IDLE' = 1, 'ACTIVE' = 2, 'COUNTER_FAULT' = 3) COMMENT 'State of the counter' CODEC(ZSTD(1)), rpm_milli UInt64 COMMENT 'Thousandths of a revolution per minute' CODEC(DoubleDelta, ZSTD(1)), speed_mm_per_second UInt64 COMMENT 'Speed of the rim in millimetres per second' CODEC(DoubleDelta, ZSTD(1)), distance_mm UInt64 COMMENT 'Distance of the rim in millimetres' CODEC(T64, ZSTD(1)), INDEX position_range position TYPE minmax GRANULARITY 1, INDEX observed_at_range observed_at TYPE minmax GRANULARITY 1) ENGINE = ReplacingMergeTree(position) PARTITION BY toYYYYMM(observed_at) ORDER BY (installation_id, position) COMMENT 'Accepted readings of the wheels, one row each'"`,
    );
    expect(foldSnapshots.createStatement()).toMatchInlineSnapshot(
      `"CREATE TABLE IF NOT EXISTS fold_snapshots (snapshot String, part Int64, chunk Int64, chunk_count Int64, stream String, fold_version Int64, configuration String, stream_created String, position Int64, digest String, taken_at_ms Int64, ordinal Int64, checksum String, payload String) ENGINE = MergeTree() PARTITION BY snapshot ORDER BY (snapshot, part, chunk)"`,
    );
    expect(() => replicate('Log', 'log')).toThrow('Log is not an engine of these tables');
  });

  it('has blocks of these bytes', () => {
    const rows = [
      someValues,
      {
        ...someValues,
        order: 2 ** 40 + 1,
        text: 'ä'.repeat(40),
        unknownText: 'known',
        perhapsNamed: 'perhaps',
        total: 2n ** 256n,
        listed: [],
        perhapsAccount: someValues.account,
        perhapsAmount: 2n ** 255n + 7n,
        perhapsLarge: 2n ** 63n,
        perhapsFew: 255,
      },
    ];
    const text = everyKind.encode(rows).toString('latin1');
    const formatHex = (bytes: string) => `<${Buffer.from(bytes, 'latin1').toString('hex')}>`;
    expect(text.replace(/[^ -~]+/g, formatHex)).toMatchInlineSnapshot(
      `"<180205>order<05>Int64<ffffffffffffffff010000000001000004>text<06>String<04>textP<c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a40c>unknown_text<06>String<0005>known<05>named<16>LowCardinality(String)<01000000000000000202000000000000010000000000000004>name<020000000000000000000000000000000d>perhaps_named<10>Nullable(String)<01000007>perhaps<0a>identifier<04>UUID<f8>N<0b9c99bceea0110a>8<bdb9>km<bbf8>N<0b9c99bceea0110a>8<bdb9>km<bb0b>happened_at<14>DateTime64(3, 'UTC')<000000000000000000000000000000000e>amount_of_work<07>UInt256<0100000000000000000000000000000000000000000000000000000000000000010000000000000000000000000000000000000000000000000000000000000005>total<11>Nullable(UInt256)<01010000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000004>many<06>UInt64<0200000000000000020000000000000004>some<06>UInt32<030000000300000003>few<05>UInt8<04040a>one_of_two<06>String<03>one<03>one<0e>enumerated_one<1b>Enum8('one' = 1, 'two' = 2)<020207>account<06>String*0x1111111111111111111111111111111111111111*0x1111111111111111111111111111111111111111<0f>perhaps_account<10>Nullable(String)<0100>*0x0000000000000000000000000000000000000000*0x1111111111111111111111111111111111111111<0a>block_hash<06>StringB0x0000000000000000000000000000000000000000000000000000000000000001B0x0000000000000000000000000000000000000000000000000000000000000001<10>transaction_hash<06>StringB0x0000000000000000000000000000000000000000000000000000000000000002B0x0000000000000000000000000000000000000000000000000000000000000002<0e>perhaps_amount<11>Nullable(UInt256)<01000000000000000000000000000000000000000000000000000000000000000000070000000000000000000000000000000000000000000000000000000000008006>listed<0e>Array(UInt256)<01000000000000000100000000000000050000000000000000000000000000000000000000000000000000000000000005>large<06>UInt64<060000000000000006000000000000000d>perhaps_large<10>Nullable(UInt64)<0100000000000000000000000000000000800b>perhaps_few<0f>Nullable(UInt8)<010000ff08>document<06>String<19>{"text":"","number":null}<19>{"text":"","number":null}"`,
    );
  });

  it('is written the same however often its bytes have to grow', () => {
    const write = (expectedBytes: number) => {
      const writer = new BlockWriter(expectedBytes);
      for (let round = 0; round < 40; round++) {
        writer.uint8(round);
        writer.uint32(2 ** 31 + round);
        writer.int64(-(2 ** 40) - round);
        writer.uint64(2n ** 63n);
        writer.uint256(2n ** 255n);
        writer.uuid(someValues.identifier);
        writer.string('ä'.repeat(round));
        writer.size(2 ** (round % 32));
      }
      return writer.finish();
    };
    for (const expectedBytes of [1, 2, 3, 5, 8, 13, 21, 34, 55, 89])
      expect(write(expectedBytes)).toEqual(write(1_000_000));
  });

  it('refuses values that its columns cannot hold', () => {
    const refuse = (type: string, overrides: Partial<Values>) =>
      expect(() => everyKind.encode([{ ...someValues, ...overrides }])).toThrow(
        new RangeError(`a column of ${type} cannot hold ${Object.values(overrides)[0]}`),
      );
    for (const many of [0.5, Number.NaN, 2 ** 53]) refuse('Int64', { many });
    for (const some of [-1, 2 ** 32, 0.5]) refuse('UInt32', { some });
    for (const few of [-1, 256, 0.5]) refuse('UInt8', { few });
    for (const large of [-1n, 2n ** 64n]) refuse('UInt64', { large });
    for (const amountOfWork of [-1n, 2n ** 256n]) refuse('UInt256', { amountOfWork });
    const uuids = ['', `${someValues.identifier}0`, someValues.identifier.replace('a', 'g'), 'ä'.repeat(36)];
    for (const identifier of uuids) refuse('UUID', { identifier });
  });

  it('reads the cells of a result, in the order of its columns', () => {
    const { account, identifier, blockHash, transactionHash } = someValues;
    const known = [
      -1,
      'text',
      '',
      'name',
      null,
      identifier,
      '0',
      '1',
      null,
      '2',
      3,
      4,
      'one',
      'two',
      account,
    ];
    const rest = [blockHash, transactionHash, null, '5', '6', null, null, '{"text":"","number":null}'];
    expect(everyKind.read([...known, null, ...rest])).toEqual(someValues);
    expect(everyKind.list).toMatchInlineSnapshot(
      `"order, text, unknown_text, named, perhaps_named, identifier, toUnixTimestamp64Milli(happened_at), toString(amount_of_work), toString(total), many, some, few, one_of_two, enumerated_one, account, perhaps_account, block_hash, transaction_hash, toString(perhaps_amount), arrayStringConcat(arrayMap(one -> toString(one), listed), ','), toString(large), toString(perhaps_large), perhaps_few, document"`,
    );
    const { list, read } = everyKind.select('listed', 'total', 'unknownText');
    expect(list).toBe(
      "arrayStringConcat(arrayMap(one -> toString(one), listed), ','), toString(total), unknown_text",
    );
    expect(read(['', '7', 'known'])).toEqual({ listed: [], total: 7n, unknownText: 'known' });
    expect(read(['1,2', null, ''])).toEqual({ listed: [1n, 2n], total: null, unknownText: null });
    const hexes = everyKind.select('account', 'blockHash', 'transactionHash');
    const cells: string[] = [account, blockHash, transactionHash];
    for (const [at, what] of ['addresses', 'hashes of blocks', 'hashes of transactions'].entries())
      expect(() => hexes.read(cells.with(at, '0x'))).toThrow(`a column of ${what} holds 0x`);
  });

  it('has a comment of any text', () => {
    expect(sqlString("\\ ' \t \n \r \0 \b \f")).toBe("'\\\\ \\' \\t \\n \\r \\0 \\b \\f'");
  });

  it('is created and filled under its own name, or another one', async () => {
    const commands: unknown[] = [];
    const database = {
      cluster: 'one',
      command: async (sql: string) => void commands.push(sql),
      insertBlocks: async (table: string, blocks: Buffer) => void commands.push([table, blocks]),
    };
    await createTable(database, everyKind);
    await createTable(database, everyKind, 'other');
    await insertRows(database, everyKind, [someValues]);
    await insertRows(database, everyKind, [], 'other');
    expect(commands).toEqual([
      everyKind.createStatement({ cluster: 'one' }),
      everyKind.createStatement({ cluster: 'one', name: 'other' }),
      ['every_kind_of_column', everyKind.encode([someValues])],
      ['other', everyKind.encode([])],
    ]);
  });

  it('has no column of a time whose name lacks the unit', () => {
    const define = () =>
      defineTable<{ at: number }>({ name: 'a', columns: { at: time }, engine: 'MergeTree()', orderBy: [] });
    expect(define).toThrow('the name of at does not end in _ms');
  });

  it('refuses cells that its values cannot be', () => {
    const row = (step: string, atMs: string | number) => [1, step, atMs, '{}'];
    expect(replays.read(row('ended', '1769860800000'))).toMatchObject({
      step: 'ended',
      atMs: 1_769_860_800_000,
    });
    expect(() => replays.read(row('lost', 1))).toThrow('a column of planned, prepared, ended holds lost');
    expect(() => replays.read(row('ended', 'soon'))).toThrow('a column of integers holds soon');
    expect(() => replays.read([1, 'ended', 1, null])).toThrow('a column of strings holds null');
  });
});
