import type { ResultCell } from '../database.ts';
import type { RowText } from '../rowText.ts';

/** What a column holds: ClickHouse's type, and how a value becomes a cell of `TabSeparated` text and comes back from a result. */
export interface Column<Value> {
  readonly type: string;
  readonly write: (text: RowText, value: Value) => void;
  /** @throws Error when the cell does not hold such a value, which only another program can have written. */
  readonly read: (cell: ResultCell) => Value;
}

export const string: Column<string> = {
  type: 'String',
  write: (text, value) => text.text(value),
  read: readString,
};

export const nullableString: Column<string | null> = {
  type: 'Nullable(String)',
  write: (text, value) => text.text(value),
  read: (cell) => (cell === null ? null : readString(cell)),
};

/** A string that may be unknown, in a column that cannot be null. No value of it is empty. */
export const stringOrEmpty: Column<string | null> = {
  type: 'String',
  write: (text, value) => text.text(value ?? ''),
  read: (cell) => (cell === '' ? null : readString(cell)),
};

/** Any safe integer. */
export const integer: Column<number> = {
  type: 'Int64',
  write: (text, value) => text.integer(value),
  read: readInteger,
};

/** 0 to 255. */
export const byte: Column<number> = { ...integer, type: 'UInt8' };

/** An integer of any size, as decimal digits. */
export const decimal: Column<bigint> = {
  type: 'String',
  write: (text, value) => text.decimal(value),
  read: (cell) => BigInt(readString(cell)),
};

/** One of a few strings. */
export function oneOf<Value extends string>(values: readonly Value[]): Column<Value> {
  return {
    type: 'String',
    write: (text, value) => text.text(value),
    read: (cell) => {
      const found = values.find((value) => value === cell);
      if (found === undefined) throw new Error(`a column of ${values.join(', ')} holds ${cell}`);
      return found;
    },
  };
}

/** A value as JSON. What comes back is what was written: nobody else writes these tables. */
export function json<Value>(): Column<Value> {
  return {
    type: 'String',
    write: (text, value) => text.text(JSON.stringify(value)),
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
