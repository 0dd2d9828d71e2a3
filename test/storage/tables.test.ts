import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Address, type BlockHash, type TransactionHash, toAddress } from '../../actors/schemas/hex.ts';
import { uint256Max } from '../../actors/schemas/wireScalars.ts';
import type { Database } from '../../storage/database.ts';
import { rowTables } from '../../storage/rowTables.ts';
import { BlockWriter } from '../../storage/tables/blockWriter.ts';
import {
  address,
  amount,
  amounts,
  blockHash,
  byte,
  column,
  count,
  enumerated,
  integer,
  json,
  largeCount,
  name,
  nullableAddress,
  nullableAmount,
  nullableByte,
  nullableLargeCount,
  nullableString,
  oneOf,
  smallCount,
  string,
  stringOrEmpty,
  sum,
  time,
  transactionHash,
  uuid,
} from '../../storage/tables/column.ts';
import { generationPointer } from '../../storage/tables/generationPointer.ts';
import { generations } from '../../storage/tables/generations.ts';
import { halfHourBuckets } from '../../storage/tables/halfHourBuckets.ts';
import { ingestEpochs } from '../../storage/tables/ingestEpochs.ts';
import { migrations } from '../../storage/tables/migrations.ts';
import { readings } from '../../storage/tables/readings.ts';
import { removals } from '../../storage/tables/removals.ts';
import { replays } from '../../storage/tables/replays.ts';
import { rounds } from '../../storage/tables/rounds.ts';
import { defineTable, insertRows, type Table } from '../../storage/tables/table.ts';
import { buildBlockHash, buildTransactionHash } from '../support/chain/hashes.ts';
import { openForTest, useBothLocations } from '../support/storage/openTables.ts';

const earliestMs = Date.parse('0000-01-01T00:00:00.000Z');
const latestMs = Date.parse('9999-12-31T23:59:59.999Z');

interface Values {
  readonly order: number;
  readonly text: string;
  readonly unknownText: string | null;
  readonly named: string;
  readonly perhapsNamed: string | null;
  readonly identifier: string;
  readonly happenedAtMs: number;
  readonly amountOfWork: bigint;
  readonly total: bigint | null;
  readonly many: number;
  readonly some: number;
  readonly few: number;
  readonly oneOfTwo: 'one' | 'two';
  readonly enumeratedOne: 'one' | 'two';
  readonly account: Address;
  readonly perhapsAccount: Address | null;
  readonly blockHash: BlockHash;
  readonly transactionHash: TransactionHash;
  readonly perhapsAmount: bigint | null;
  readonly listed: readonly bigint[];
  readonly large: bigint;
  readonly perhapsLarge: bigint | null;
  readonly perhapsFew: number | null;
  readonly document: { readonly text: string; readonly number: number | null };
}

const someValues: Values = {
  order: -1,
  text: 'text',
  unknownText: null,
  named: 'name',
  perhapsNamed: null,
  identifier: 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
  happenedAtMs: 0,
  amountOfWork: 1n,
  total: null,
  many: 2,
  some: 3,
  few: 4,
  oneOfTwo: 'one',
  enumeratedOne: 'two',
  account: toAddress(`0x${'1'.repeat(40)}`),
  perhapsAccount: null,
  blockHash: buildBlockHash(1n),
  transactionHash: buildTransactionHash(2n),
  perhapsAmount: null,
  listed: [5n],
  large: 6n,
  perhapsLarge: null,
  perhapsFew: null,
  document: { text: '', number: null },
};

const everyKind = defineTable<Values>({
  name: 'every_kind_of_column',
  comment: "A table of every kind of column, the test's",
  columns: {
    order: integer,
    text: string,
    unknownText: stringOrEmpty,
    named: name,
    perhapsNamed: nullableString,
    identifier: uuid,
    happenedAtMs: column(time, { comment: 'When it happened', codec: 'Delta, ZSTD(1)' }),
    amountOfWork: amount,
    total: sum,
    many: count,
    some: smallCount,
    few: byte,
    oneOfTwo: oneOf(['one', 'two']),
    enumeratedOne: enumerated(['one', 'two']),
    account: address,
    perhapsAccount: nullableAddress,
    blockHash,
    transactionHash,
    perhapsAmount: nullableAmount,
    listed: amounts,
    large: largeCount,
    perhapsLarge: nullableLargeCount,
    perhapsFew: nullableByte,
    document: json<Values['document']>(),
  },
  engine: 'MergeTree()',
  partitionBy: { month: 'happenedAtMs' },
  orderBy: ['order'],
});

async function readAll<Row>(database: Database, table: Table<Row>, orderBy: string): Promise<Row[]> {
  const rows = await database.select(`SELECT ${table.list} FROM ${table.name} ORDER BY ${orderBy}`);
  return rows.map(table.read);
}

describe.each(useBothLocations())('tables in %s', (_, locate) => {
  it('return every row that is inserted, of any values', async () => {
    const database = openForTest(await locate());
    await database.command(everyKind.createStatement());
    const unicode = fc.string({ unit: 'grapheme' });
    const amountsOfAny = fc.oneof(fc.constant(uint256Max), fc.bigInt({ min: 0n, max: uint256Max }));
    const addresses = fc
      .uint8Array({ minLength: 20, maxLength: 20 })
      .map((bytes) => toAddress(`0x${Buffer.from(bytes).toString('hex')}`));
    const largeOnes = fc.oneof(fc.constant(2n ** 64n - 1n), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }));
    const values = fc.record<Omit<Values, 'order'>>({
      text: unicode,
      unknownText: fc.option(unicode.filter((text) => text !== '')),
      named: unicode,
      perhapsNamed: fc.option(unicode),
      identifier: fc.uuid(),
      // An insert may have 100 partitions at most, each a month.
      happenedAtMs: fc.oneof(
        fc.constantFrom(earliestMs, earliestMs + 1, -1, 0, 1, 999_999_999_999, latestMs),
        fc.integer({ min: 1_769_860_800_000, max: 1_769_860_800_000 + 86_400_000 * 365 }),
      ),
      amountOfWork: amountsOfAny,
      total: fc.option(amountsOfAny),
      many: fc.maxSafeNat(),
      some: fc.nat(2 ** 32 - 1),
      few: fc.nat(255),
      oneOfTwo: fc.constantFrom('one', 'two'),
      enumeratedOne: fc.constantFrom('one', 'two'),
      account: addresses,
      perhapsAccount: fc.option(addresses),
      blockHash: fc.bigInt({ min: 0n, max: uint256Max }).map(buildBlockHash),
      transactionHash: fc.bigInt({ min: 0n, max: uint256Max }).map(buildTransactionHash),
      perhapsAmount: fc.option(amountsOfAny),
      listed: fc.array(amountsOfAny, { maxLength: 5 }),
      large: largeOnes,
      perhapsLarge: fc.option(largeOnes),
      perhapsFew: fc.option(fc.nat(255)),
      document: fc.record({ text: unicode, number: fc.option(fc.maxSafeInteger()) }),
    });
    const rows = fc
      .sample(values, 500)
      .map((row, order): Values => ({ order, ...row }))
      .concat(someValues)
      .sort((a, b) => a.order - b.order);
    await insertRows(database, everyKind, rows);
    expect(await readAll(database, everyKind, 'order')).toEqual(rows);
    const some = everyKind.select('oneOfTwo', 'happenedAtMs');
    const found = await database.select(`SELECT ${some.list} FROM ${everyKind.name} ORDER BY order LIMIT 1`);
    const [first] = rows;
    expect(found.map(some.read)).toEqual([{ oneOfTwo: first?.oneOfTwo, happenedAtMs: first?.happenedAtMs }]);
  });

  it('hold times of any year, in order, and amounts above their column as unknown', async () => {
    const database = openForTest(await locate());
    await database.command(rounds.createStatement());
    const times = fc.sample(fc.integer({ min: earliestMs, max: latestMs }), { numRuns: 90, seed: 5 });
    const round = { installationId: 'wheel', workUnits: uint256Max + 1n };
    const startsMs = [...new Set([earliestMs, latestMs, ...times])].sort((a, b) => a - b);
    await insertRows(
      database,
      rounds,
      startsMs.map((startMs, at) => ({ ...round, startMs, roundId: at + 1, position: at + 1 })),
    );
    const found = await readAll(database, rounds, 'start');
    expect(found.map(({ startMs }) => startMs)).toEqual(startsMs);
    expect(new Set(found.map(({ workUnits }) => workUnits))).toEqual(new Set([null]));
  });
});

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
    const refused = (overrides: Partial<Values>) =>
      expect(() => everyKind.encode([{ ...someValues, ...overrides }])).toThrow(RangeError);
    for (const many of [0.5, Number.NaN, 2 ** 53]) refused({ many });
    for (const some of [-1, 2 ** 32, 0.5]) refused({ some });
    for (const few of [-1, 256, 0.5]) refused({ few });
    for (const large of [-1n, 2n ** 64n]) refused({ large });
    for (const amountOfWork of [-1n, 2n ** 256n]) refused({ amountOfWork });
    const uuids = ['', `${someValues.identifier}0`, someValues.identifier.replace('a', 'g'), 'ä'.repeat(36)];
    for (const identifier of uuids) refused({ identifier });
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
