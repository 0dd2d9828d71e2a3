import { describe, expect, it } from 'vitest';
import { BlockWriter } from '../../storage/definition/blockWriter.ts';
import { type ResultRow, time } from '../../storage/definition/column.ts';
import { sqlString } from '../../storage/definition/sqlString.ts';
import { defineTable, replicate } from '../../storage/definition/table.ts';
import { agedRows } from '../../storage/tables/agedRows.ts';
import { ingestEpochs } from '../../storage/tables/ingestEpochs.ts';
import { lineages } from '../../storage/tables/lineages.ts';
import { migrations } from '../../storage/tables/migrations.ts';
import { rounds } from '../../storage/tables/rounds.ts';
import { rowTables } from '../../storage/tables/rowTables.ts';
import { everyKind, someValues, type Values } from '../support/storage/everyKind.ts';
import { openTables } from '../support/storage/openTables.ts';

describe('a table', () => {
  it('is partitioned by its runs and the months of its times', () => {
    expect(rounds.createStatement()).toContain(' PARTITION BY (run, toYYYYMM(start)) ORDER BY ');
    const round = { installationId: 'wheel', roundId: 1, workUnits: 0n, position: 1 };
    expect(rounds.findPeriod({ ...round, startMs: 2_592_000_000 * 3 - 1 })).toBe(2);
    expect(rounds.findPeriod({ ...round, startMs: -1 })).toBe(-1);
  });

  it('gives each row its run and its message', async () => {
    const { database } = await openTables();
    const round = { installationId: 'wheel', roundId: 1, startMs: 0, workUnits: 0n };
    await database.insertBlocks(
      rounds.name,
      rounds.encode(
        [7, 9].map((position) => ({ ...round, roundId: position, position })),
        { run: 'one' },
      ),
    );
    const found = await database.select(
      `SELECT run, position, stored_by FROM ${rounds.name} ORDER BY position`,
    );
    expect(found.map((row) => row.map(String))).toEqual([
      ['one', '7', '7'],
      ['one', '9', '9'],
    ]);
    // A row without a run would count nowhere.
    expect(() => rounds.encode([{ ...round, position: 7 }])).toThrow('has no value of run');
  });

  it('says what each of its columns means', () => {
    const written = rowTables.map(({ definition }) => definition);
    const others = [agedRows, ingestEpochs, lineages, migrations];
    for (const { name: table, comment, storedColumns } of [...written, ...others]) {
      expect([table, comment]).toEqual([table, expect.stringMatching(/^[A-Z]/)]);
      for (const { name: one, comment: about } of storedColumns)
        expect([table, one, about]).toEqual([table, one, expect.stringMatching(/^\w/)]);
    }
  });

  it('has one of the engines that a cluster replicates', () => {
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
    const { read } = lineages.select('epoch', 'cause', 'holder');
    const row = (epoch: string | number | null, cause: string, holder: string | null = ''): ResultRow => [
      epoch,
      cause,
      holder,
    ];
    expect(read(row('7', 'ended'))).toEqual({ epoch: 7, cause: 'ended', holder: '' });
    expect(() => read(row(7, 'lost'))).toThrow('holds lost');
    expect(() => read(row('soon', 'ended'))).toThrow('holds soon');
    expect(() => read(row(null, 'ended'))).toThrow('a column of integers holds null');
    expect(() => read(row(7, 'ended', null))).toThrow('a column of strings holds null');
  });
});
