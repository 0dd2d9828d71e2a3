import { describe, expect, it } from 'vitest';
import { rowTables } from '../../storage/rowTables.ts';
import { BlockWriter } from '../../storage/tables/blockWriter.ts';
import { time } from '../../storage/tables/column.ts';
import { generationPointer } from '../../storage/tables/generationPointer.ts';
import { generations } from '../../storage/tables/generations.ts';
import { ingestEpochs } from '../../storage/tables/ingestEpochs.ts';
import { migrations } from '../../storage/tables/migrations.ts';
import { removals } from '../../storage/tables/removals.ts';
import { replays } from '../../storage/tables/replays.ts';
import { rounds } from '../../storage/tables/rounds.ts';
import { sqlString } from '../../storage/tables/sqlString.ts';
import { defineTable, replicate } from '../../storage/tables/table.ts';
import { everyKind, someValues, type Values } from '../support/storage/everyKind.ts';

describe('a table', () => {
  it('is partitioned by the months of its times', () => {
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
    expect(rounds.createStatement({ name: 'rounds_g2', cluster: "o'ne" })).toMatchInlineSnapshot(
      `"CREATE TABLE IF NOT EXISTS rounds_g2 ON CLUSTER 'o\\'ne' (installation_id LowCardinality(String) COMMENT 'Installation of the wheel', round_id UInt32 COMMENT 'Number of the round; 1 starts at the genesis' CODEC(DoubleDelta, ZSTD(1)), start DateTime64(3, 'UTC') COMMENT 'Start of the round' CODEC(DoubleDelta, ZSTD(1)), work_units Nullable(UInt256) COMMENT 'Work in work units; null above 2^256 - 1' CODEC(ZSTD(1)), position UInt64 COMMENT 'Sequence in MINER_COUNTER of the reading that closed the round' CODEC(Delta, ZSTD(1))) ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/rounds_g2', '{replica}', position) PARTITION BY toYYYYMM(start) ORDER BY (installation_id, round_id) COMMENT 'Rounds of 600 seconds that were observed in full; a missing round has no row'"`,
    );
    expect(() => replicate('Log', 'log')).toThrow('Log is not an engine of these tables');
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

  it('refuses a row that lacks a value, since unknown is null', () => {
    const unknown: Partial<Values> = {
      unknownText: null,
      perhapsNamed: null,
      perhapsAmount: null,
      total: null,
    };
    expect(() => everyKind.encode([{ ...someValues, ...unknown }])).not.toThrow();
    for (const key of Object.keys(someValues))
      expect(() => everyKind.encode([someValues, { ...someValues, [key]: undefined }])).toThrow(
        new RangeError(`a row of every_kind_of_column has no value of ${key}`),
      );
  });

  it('refuses a cell that is no address or hash', () => {
    const { account, blockHash, transactionHash } = someValues;
    const hexes = everyKind.select('account', 'blockHash', 'transactionHash');
    const cells: string[] = [account, blockHash, transactionHash];
    for (const [at, what] of ['addresses', 'hashes of blocks', 'hashes of transactions'].entries())
      expect(() => hexes.read(cells.with(at, '0x'))).toThrow(`a column of ${what} holds 0x`);
  });

  it('has a comment of any text', () => {
    expect(sqlString("\\ ' \t \n \r \0 \b \f")).toBe("'\\\\ \\' \\t \\n \\r \\0 \\b \\f'");
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
