import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toAddress } from '../../actors/schemas/hex.ts';
import { uint256Max } from '../../actors/schemas/wireScalars.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { insertRows, type Table } from '../../storage/definition/table.ts';
import { rounds } from '../../storage/tables/rounds.ts';
import { buildBlockHash, buildTransactionHash } from '../support/chain/hashes.ts';
import { everyKind, someValues, type Values } from '../support/storage/everyKind.ts';
import { openForTest, useBothLocations } from '../support/storage/openTables.ts';

const earliestMs = Date.parse('0000-01-01T00:00:00.000Z');
const latestMs = Date.parse('9999-12-31T23:59:59.999Z');

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
      startsMs.map((startMs, at) => ({
        ...round,
        run: '',
        startMs,
        roundId: at + 1,
        position: at + 1,
        storedBy: 0,
      })),
    );
    const found = await readAll(database, rounds, 'start');
    expect(found.map(({ startMs }) => startMs)).toEqual(startsMs);
    expect(new Set(found.map(({ workUnits }) => workUnits))).toEqual(new Set([null]));
  });
});
