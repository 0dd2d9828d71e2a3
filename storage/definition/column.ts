import { isAddress, isBlockHash, isTransactionHash, zeroAddress } from '../../actors/schemas/hex.ts';
import { uint256Max } from '../../actors/schemas/wireScalars.ts';
import type { BlockWriter } from './blockWriter.ts';

export type ResultCell = string | number | null | readonly ResultCell[];

/** A row of a result: its values in the order of the select list. */
export type ResultRow = readonly ResultCell[];

/** A kind of column: ClickHouse's type, and how values are written in its `Native` format and read from a result. */
export interface Column<Value> {
  readonly type: string;
  /** @throws RangeError for a value that the column cannot hold. */
  readonly write: (writer: BlockWriter, values: readonly Value[]) => void;
  /** @throws Error for a cell that this program cannot have written. */
  readonly read: (cell: ResultCell) => Value;
  /** SQL of the value that `read` expects; if omitted, the column itself. */
  readonly readExpression?: (column: string) => string;
  /** Ending of a value's name (its unit) that the column's name lacks. */
  readonly suffix?: string;
  /** If omitted, ClickHouse's default. */
  readonly codec?: string;
  /** Meaning and unit, for ad-hoc queries. */
  readonly comment?: string | undefined;
}

export function column<Value>(
  kind: Column<Value>,
  about: { readonly comment: string | undefined; readonly codec?: string },
): Column<Value> {
  return { ...kind, ...about };
}

/** A column whose values may be unknown. The block has a flag for each value, then all values, with a substitute for unknown ones. */
function nullable<Value>(kind: Column<Value>, inPlaceOfNull: Value): Column<Value | null> {
  return {
    ...kind,
    type: `Nullable(${kind.type})`,
    write: (writer, values) => {
      for (const value of values) writer.uint8(value === null ? 1 : 0);
      kind.write(
        writer,
        values.map((value) => value ?? inPlaceOfNull),
      );
    },
    read: (cell) => (cell === null ? null : kind.read(cell)),
  };
}

export const string: Column<string> = {
  type: 'String',
  write: writeStrings,
  read: readString,
};

/** One of few strings that many rows repeat. */
export const name: Column<string> = {
  ...string,
  type: 'LowCardinality(String)',
  write: writeDictionary,
};

export const nullableString = nullable(string, '');

/** A UUID in lower case. */
export const uuid: Column<string> = {
  ...string,
  type: 'UUID',
  write: (writer, values) => {
    for (const value of values) writer.uuid(value);
  },
};

/** Any safe integer. */
export const integer: Column<number> = {
  type: 'Int64',
  write: (writer, values) => {
    for (const value of values) writer.int64(value);
  },
  read: readInteger,
};

/** A safe integer from 0. */
export const count: Column<number> = { ...integer, type: 'UInt64' };

export const nullableCount = nullable(count, 0);

/** 0 to 2^32 - 1. */
export const smallCount: Column<number> = {
  ...integer,
  type: 'UInt32',
  write: (writer, values) => {
    for (const value of values) writer.uint32(value);
  },
};

/** 0 to 255. */
export const byte: Column<number> = {
  ...integer,
  type: 'UInt8',
  write: (writer, values) => {
    for (const value of values) writer.uint8(value);
  },
};

export const nullableByte = nullable(byte, 0);

/** `0x` and hexadecimal digits in lower case. */
function defineHex<Value extends string>(isOne: (text: string) => text is Value, what: string) {
  return {
    type: 'String',
    write: writeStrings,
    read: (cell) => {
      const value = readString(cell);
      if (!isOne(value)) throw new Error(`a column of ${what} holds ${cell}`);
      return value;
    },
  } satisfies Column<Value>;
}

export const blockHash = defineHex(isBlockHash, 'hashes of blocks');
export const transactionHash = defineHex(isTransactionHash, 'hashes of transactions');
export const address = defineHex(isAddress, 'addresses');

export const nullableAddress = nullable(address, zeroAddress);

/**
 * Epoch milliseconds of any year from 0 to 9999, as a time. They are read as integers: as text, servers move times outside their calendar (1900 to
 * 2299 before ClickHouse 26) to its nearest end.
 */
export const time: Column<number> = {
  ...integer,
  type: "DateTime64(3, 'UTC')",
  readExpression: (column) => `toUnixTimestamp64Milli(${column})`,
  suffix: '_ms',
};

/** 0 to 2^256 - 1. */
export const amount: Column<bigint> = {
  type: 'UInt256',
  write: (writer, values) => {
    for (const value of values) writer.uint256(value);
  },
  read: (cell) => BigInt(readString(cell)),
  // A server writes a JSON number, which would be rounded.
  readExpression: (column) => `toString(${column})`,
};

export const nullableAmount = nullable(amount, 0n);

/** An unbounded sum of amounts; null above 2^256 - 1. */
export const sum: Column<bigint | null> = {
  ...nullableAmount,
  write: (writer, values) =>
    nullableAmount.write(
      writer,
      values.map((value) => (value !== null && value > uint256Max ? null : value)),
    ),
};

/** A list of values. */
function listOf<Value>(kind: Column<Value>): Column<readonly Value[]> {
  const { readExpression: express } = kind;
  return {
    type: `Array(${kind.type})`,
    write: (writer, lists) => {
      let end = 0;
      for (const list of lists) {
        end += list.length;
        writer.int64(end);
      }
      kind.write(writer, lists.flat());
    },
    read: (cell) => {
      if (!Array.isArray(cell)) throw new Error(`a column of lists holds ${cell}`);
      return cell.map(kind.read);
    },
    ...(express && { readExpression: (column) => `arrayMap(one -> ${express('one')}, ${column})` }),
  };
}

export const amounts = listOf(amount);
export const counts = listOf(count);
export const strings = listOf(string);

/** 0 to 2^64 - 1, for example the number of a block. */
export const largeCount: Column<bigint> = {
  ...amount,
  type: 'UInt64',
  write: (writer, values) => {
    for (const value of values) writer.uint64(value);
  },
};

export const nullableLargeCount = nullable(largeCount, 0n);

/** One of a few strings. */
export function oneOf<Value extends string>(values: readonly Value[]): Column<Value> {
  return {
    type: 'String',
    write: writeStrings,
    read: (cell) => {
      const found = values.find((value) => value === cell);
      if (found === undefined) throw new Error(`a column of ${values.join(', ')} holds ${cell}`);
      return found;
    },
  };
}

/** One of a few strings, as an enumeration of ClickHouse. Values are numbered in their order, so add new ones at the end. */
export function enumerated<Value extends string>(values: readonly Value[]): Column<Value> {
  const numbers = new Map(values.map((value, at) => [value, at + 1]));
  const list = values.map((value) => `'${value}' = ${numbers.get(value)}`).join(', ');
  return {
    ...oneOf(values),
    type: `Enum8(${list})`,
    write: (writer, rows) => {
      for (const value of rows) writer.uint8(numbers.get(value) ?? Number.NaN);
    },
  };
}

function writeStrings(writer: BlockWriter, values: readonly string[]): void {
  for (const value of values) writer.string(value);
}

/** Layout of `LowCardinality` in a block: each distinct string, then the index of each row's string. */
const dictionaryLayout = { version: 1, hasOwnStrings: 0x200, indexOfUInt32: 2 };

function writeDictionary(writer: BlockWriter, values: readonly string[]): void {
  const numbers = new Map<string, number>();
  for (const value of values) if (!numbers.has(value)) numbers.set(value, numbers.size);
  writer.int64(dictionaryLayout.version);
  writer.int64(dictionaryLayout.hasOwnStrings + dictionaryLayout.indexOfUInt32);
  writer.int64(numbers.size);
  writeStrings(writer, [...numbers.keys()]);
  writer.int64(values.length);
  for (const value of values) writer.uint32(numbers.get(value) ?? Number.NaN);
}

function readString(cell: ResultCell): string {
  if (typeof cell !== 'string') throw new Error(`a column of strings holds ${cell}`);
  return cell;
}

function readInteger(cell: ResultCell): number {
  // Servers differ in whether they quote 64-bit integers.
  const value = Number(cell);
  if (cell === null || !Number.isSafeInteger(value)) throw new Error(`a column of integers holds ${cell}`);
  return value;
}
