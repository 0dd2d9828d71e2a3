import { isAddress, isBlockHash, isTransactionHash } from '../../actors/schemas/hex.ts';
import { uint256Max } from '../../actors/schemas/wireScalars.ts';
import { escapeCell, nullCell } from './tabSeparated.ts';

/** A value of a result. */
export type ResultCell = string | number | null;

/** A row of a result: its values in the order of the select list. */
export type ResultRow = readonly ResultCell[];

/** What a column holds: ClickHouse's type, and how a value becomes a cell of `TabSeparated` text and comes back from a result. */
export interface Column<Value> {
  readonly type: string;
  readonly format: (value: Value) => string;
  /** @throws Error when the cell does not hold such a value, which only another program can have written. */
  readonly read: (cell: ResultCell) => Value;
  /** SQL of what `read` reads; the column itself when it is left out. */
  readonly readExpression?: (column: string) => string;
  /** Set where values are inserted in another form, under the value's own name, and the column is made from that. */
  readonly inserted?: InsertedForm;
  /** ClickHouse's default when it is left out. */
  readonly codec?: string;
  /** What it means, with its unit: for whoever queries the table. */
  readonly comment?: string | undefined;
}

interface InsertedForm {
  readonly type: string;
  /** Ending of the value's name that the column's name goes without. */
  readonly suffix: string;
  /** SQL that makes the column from the inserted form. */
  readonly convert: (inserted: string) => string;
}

/** The column of a kind as a table has it. */
export function column<Value>(
  kind: Column<Value>,
  about: { readonly comment: string | undefined; readonly codec?: string },
): Column<Value> {
  return { ...kind, ...about };
}

/** The same column where the value may be unknown. */
function nullable<Value>(kind: Column<Value>): Column<Value | null> {
  return {
    ...kind,
    type: `Nullable(${kind.type})`,
    format: (value) => (value === null ? nullCell : kind.format(value)),
    read: (cell) => (cell === null ? null : kind.read(cell)),
  };
}

export const string: Column<string> = {
  type: 'String',
  format: escapeCell,
  read: readString,
};

/** One of not too many strings, which many rows repeat. */
export const name: Column<string> = { ...string, type: 'LowCardinality(String)' };

export const nullableString = nullable(string);

/** A UUID in lower case. */
export const uuid: Column<string> = { ...string, type: 'UUID' };

/** A string that may be unknown, in a column that cannot be null. No value of it is empty. */
export const stringOrEmpty: Column<string | null> = {
  type: 'String',
  format: (value) => escapeCell(value ?? ''),
  read: (cell) => (cell === '' ? null : readString(cell)),
};

/** Any safe integer. */
export const integer: Column<number> = {
  type: 'Int64',
  format: String,
  read: readInteger,
};

/** A safe integer from 0. */
export const count: Column<number> = { ...integer, type: 'UInt64' };

/** 0 to 2^32 - 1. */
export const smallCount: Column<number> = { ...integer, type: 'UInt32' };

/** 0 to 255. */
export const byte: Column<number> = { ...integer, type: 'UInt8' };

export const nullableByte = nullable(byte);

/** `0x` and digits in lower case, which say nothing of what they are: the type of the column does. */
function defineHex<Value extends string>(isOne: (text: string) => text is Value, what: string) {
  return {
    type: 'String',
    format: String,
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

export const nullableAddress = nullable(address);

/**
 * Epoch milliseconds of any year from 0 to 9999, as a time. They are inserted as the integer that they are: as text, a server takes times outside
 * its calendar (1900 to 2299 before ClickHouse 26) for the nearest ones inside. For the same reason they are read as integers.
 */
export const time: Column<number> = {
  ...integer,
  type: "DateTime64(3, 'UTC')",
  readExpression: (column) => `toUnixTimestamp64Milli(${column})`,
  inserted: {
    type: 'Int64',
    suffix: '_ms',
    convert: (inserted) => `fromUnixTimestamp64Milli(${inserted}, 'UTC')`,
  },
};

/** 0 to 2^256 - 1. */
export const amount: Column<bigint> = {
  type: 'UInt256',
  format: String,
  read: (cell) => BigInt(readString(cell)),
  // A server writes it as a JSON number, which would be rounded.
  readExpression: (column) => `toString(${column})`,
};

export const nullableAmount = nullable(amount);

/**
 * A sum of amounts, which nothing bounds: null where it is above 2^256 - 1, which would come back as another one (ClickHouse takes the digits
 * modulo 2^256).
 */
export const sum: Column<bigint | null> = {
  ...nullableAmount,
  format: (value) => nullableAmount.format(value !== null && value > uint256Max ? null : value),
};

/** Several of them, none of which can be unknown. */
export const amounts: Column<readonly bigint[]> = {
  type: 'Array(UInt256)',
  format: (values) => `[${values.join(',')}]`,
  read: (cell) => {
    const list = readString(cell);
    return list === '' ? [] : list.split(',').map(BigInt);
  },
  readExpression: (column) => `arrayStringConcat(arrayMap(one -> toString(one), ${column}), ',')`,
};

/** 0 to 2^64 - 1, such as the number of a block. */
export const largeCount: Column<bigint> = { ...amount, type: 'UInt64' };

export const nullableLargeCount = nullable(largeCount);

/** One of a few strings. */
export function oneOf<Value extends string>(values: readonly Value[]): Column<Value> {
  return {
    type: 'String',
    format: escapeCell,
    read: (cell) => {
      const found = values.find((value) => value === cell);
      if (found === undefined) throw new Error(`a column of ${values.join(', ')} holds ${cell}`);
      return found;
    },
  };
}

/** The same as an enumeration of ClickHouse. Values are numbered in their order, so new ones are added at the end. */
export function enumerated<Value extends string>(values: readonly Value[]): Column<Value> {
  const numbered = values.map((value, at) => `'${value}' = ${at + 1}`);
  return { ...oneOf(values), type: `Enum8(${numbered.join(', ')})` };
}

/** A value as JSON. What comes back is what was written: nobody else writes these tables. */
export function json<Value>(): Column<Value> {
  return {
    type: 'String',
    format: (value) => escapeCell(JSON.stringify(value)),
    read: (cell) => JSON.parse(readString(cell)),
  };
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
