import { toAddress } from '../../../actors/schemas/hex.ts';
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
  sum,
  time,
  transactionHash,
  uuid,
} from '../../../storage/definition/column.ts';
import { defineTable } from '../../../storage/definition/table.ts';
import { buildBlockHash, buildTransactionHash } from '../chain/hashes.ts';

const columns = {
  order: integer,
  text: string,
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
};

/** A row of the table. */
export type Values = {
  readonly [Name in keyof typeof columns]: ReturnType<(typeof columns)[Name]['read']>;
};

export const someValues: Values = {
  order: -1,
  text: 'text',
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
};

export const everyKind = defineTable<Values>({
  name: 'every_kind_of_column',
  comment: "A table of every kind of column, the test's",
  columns,
  engine: 'MergeTree()',
  partitionBy: { month: 'happenedAtMs' },
  orderBy: ['order'],
});
