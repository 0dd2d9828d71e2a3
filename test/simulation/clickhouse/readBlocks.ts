import type { SqlValue } from './evaluate.ts';

/** Rows of one block, and the names of its columns. */
export interface Block {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly SqlValue[])[];
}

/** Reads blocks of ClickHouse's `Native` format, as far as tables of the service have its types. */
export function readBlocks(bytes: Buffer): Block[] {
  const cursor = { bytes, at: 0 };
  const blocks: Block[] = [];
  while (cursor.at < bytes.length) {
    const columnCount = readSize(cursor);
    const rowCount = readSize(cursor);
    const names: string[] = [];
    const columns: SqlValue[][] = [];
    for (let column = 0; column < columnCount; column++) {
      names.push(readText(cursor));
      columns.push(readColumn(cursor, readText(cursor), rowCount));
    }
    const rows = Array.from({ length: rowCount }, (_, row) => columns.map((cells) => cells[row] as SqlValue));
    blocks.push({ columns: names, rows });
  }
  return blocks;
}

interface Cursor {
  readonly bytes: Buffer;
  at: number;
}

function take(cursor: Cursor, length: number): Buffer {
  const end = cursor.at + length;
  if (end > cursor.bytes.length) throw new Error('Code: 33. a block ends too early');
  const taken = cursor.bytes.subarray(cursor.at, end);
  cursor.at = end;
  return taken;
}

function readSize(cursor: Cursor): number {
  const byte = take(cursor, 1).readUInt8();
  return byte < 128 ? byte : byte - 128 + 128 * readSize(cursor);
}

function readText(cursor: Cursor): string {
  return take(cursor, readSize(cursor)).toString('utf8');
}

function readMany<Value>(count: number, readOne: () => Value): Value[] {
  return Array.from({ length: count }, readOne);
}

function readColumn(cursor: Cursor, type: string, count: number): SqlValue[] {
  const [, wrapper = '', inner = ''] = /^(Nullable|LowCardinality|Array)\((.*)\)$/.exec(type) ?? [];
  if (wrapper === 'Nullable') {
    const nulls = take(cursor, count);
    return readColumn(cursor, inner, count).map((value, row) => (nulls[row] === 1 ? null : value));
  }
  if (wrapper === 'LowCardinality') {
    const [version, layout] = [readUInt64(cursor), readUInt64(cursor)];
    if (version !== 1n || layout !== 0x202n) throw new Error(`an unknown dictionary: ${version}, ${layout}`);
    const dictionary = readColumn(cursor, inner, Number(readUInt64(cursor)));
    if (Number(readUInt64(cursor)) !== count) throw new Error('a dictionary is of another number of rows');
    return readMany(count, () => dictionary[take(cursor, 4).readUInt32LE()] as SqlValue);
  }
  if (wrapper === 'Array') {
    const ends = readMany(count, () => Number(readUInt64(cursor)));
    const values = readColumn(cursor, inner, ends.at(-1) ?? 0);
    return ends.map((end, row) => values.slice(ends[row - 1] ?? 0, end));
  }
  if (type.startsWith('Enum8')) {
    const names = [...type.matchAll(/'([^']*)' = (\d+)/g)].map(([, name, number]) => [Number(number), name]);
    const byNumber = new Map(names as [number, string][]);
    return readMany(count, () => byNumber.get(take(cursor, 1).readInt8()) as string);
  }
  if (type.startsWith('DateTime64')) return readColumn(cursor, 'Int64', count);
  const readOne = readers[type];
  if (readOne === undefined) throw new Error(`Code: 50. the simulated database does not know ${type}`);
  return readMany(count, () => readOne(cursor));
}

const readers: Readonly<Record<string, (cursor: Cursor) => SqlValue>> = {
  String: readText,
  UInt8: (cursor) => take(cursor, 1).readUInt8(),
  UInt32: (cursor) => take(cursor, 4).readUInt32LE(),
  Int64: (cursor) => Number(take(cursor, 8).readBigInt64LE()),
  UInt64: (cursor) => {
    const value = readUInt64(cursor);
    return value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
  },
  UInt256: (cursor) => {
    const words = readMany(4, () => readUInt64(cursor));
    return words.reduceRight((sum, word) => (sum << 64n) + word, 0n);
  },
  UUID: (cursor) => {
    const halves = readMany(2, () => readUInt64(cursor).toString(16).padStart(16, '0'));
    return halves.join('').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  },
};

function readUInt64(cursor: Cursor): bigint {
  return take(cursor, 8).readBigUInt64LE();
}
