import { compare, evaluate, type SqlValue } from './evaluate.ts';
import { type Expression, readSql } from './sqlParser.ts';

export interface StoredRow {
  readonly values: readonly SqlValue[];
}

interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
}

/** A MergeTree table: all inserted rows. A merge removes replaced rows. */
export type StoredTable = ReturnType<typeof parseCreateTable>;

/** Reads `CREATE TABLE IF NOT EXISTS ...`. */
export function parseCreateTable(sql: string) {
  const found = /^CREATE TABLE IF NOT EXISTS (\w+)\s*\(/.exec(sql);
  if (found === null) throw new Error(`the simulated database cannot create: ${sql.slice(0, 80)}`);
  const from = found[0].length;
  const end = findClosing(sql, from);
  const columns = splitTop(sql.slice(from, end))
    .filter((one) => !one.startsWith('INDEX '))
    .map(parseColumn);
  const rest = sql.slice(end + 1);
  const engine = /ENGINE = (\w+)(?:\((\w*)\))?/.exec(rest);
  const partition = / PARTITION BY (.+?) ORDER BY /.exec(rest)?.[1] ?? null;
  const order = / ORDER BY (?:\(([^)]*)\)|(\w+))/.exec(rest);
  return createStoredTable({
    name: found[1] as string,
    columns,
    engine: engine?.[1] ?? '',
    version: engine?.[2] === '' ? null : (engine?.[2] ?? null),
    partition: partition === null ? null : readSql(partition).expression(),
    orderBy: (order?.[1] ?? order?.[2] ?? '').split(',').map((one) => one.trim()),
  });
}

/** Unreplaced rows among the first `length` rows of a list. */
interface KnownFinal {
  readonly of: readonly StoredRow[];
  readonly length: number;
  readonly byKey: Map<string, StoredRow>;
  readonly final: StoredRow[];
}

interface TableParts {
  readonly name: string;
  readonly columns: readonly ColumnDefinition[];
  readonly engine: string;
  readonly version: string | null;
  readonly partition: Expression | null;
  readonly orderBy: readonly string[];
}

function createStoredTable({ name, columns, engine, version, partition, orderBy }: TableParts) {
  const indexes = new Map(columns.map((column, index) => [column.name, index]));
  const indexOf = (column: string) => {
    const index = indexes.get(column);
    if (index === undefined) throw new Error(`Code: 47. unknown column ${column} of ${name}`);
    return index;
  };
  const keyIndexes = orderBy.map(indexOf);
  const versionIndex = version === null ? null : indexOf(version);

  /** Rows are only appended, or the list is exchanged, so results for the same list's beginning stay valid. */
  let known: KnownFinal = { of: [], length: 0, byKey: new Map(), final: [] };

  /** Rows that nothing replaces: per key the highest version, and the last among equal versions. */
  function final(): StoredRow[] {
    if (!engine.startsWith('Replacing')) return table.rows;
    if (known.of !== table.rows || known.length > table.rows.length)
      known = { of: table.rows, length: 0, byKey: new Map(), final: [] };
    if (known.length < table.rows.length) {
      for (let at = known.length; at < table.rows.length; at++)
        replace(known.byKey, table.rows[at] as StoredRow);
      known = { ...known, length: table.rows.length, final: [...known.byKey.values()] };
    }
    return known.final;
  }

  function replace(byKey: Map<string, StoredRow>, row: StoredRow) {
    const key = keyIndexes.map((index) => String(row.values[index])).join('\u0001');
    const other = byKey.get(key);
    const isNewer =
      other === undefined ||
      versionIndex === null ||
      compare(row.values[versionIndex] as SqlValue, other.values[versionIndex] as SqlValue) >= 0;
    if (isNewer) byKey.set(key, row);
  }

  const table = {
    name,
    columns,
    engine,
    rows: [] as StoredRow[],
    indexOf,
    /** ID of a row's partition. */
    partitionOf: ({ values }: StoredRow): string => {
      const column = (one: string) => values[indexOf(one)] as SqlValue;
      return partition === null ? 'all' : String(evaluate(partition, { column, parameters: {} }));
    },
    insert: (names: readonly string[], rows: readonly (readonly SqlValue[])[]) => {
      const places = names.map(indexOf);
      for (const row of rows) {
        const values: SqlValue[] = columns.map(({ type }) => defaultOf(type));
        for (const [at, place] of places.entries()) values[place] = row[at] as SqlValue;
        table.rows.push({ values });
      }
    },
    final,
    merge: () => {
      table.rows = [...final()];
    },
  };
  return table;
}

function parseColumn(definition: string): ColumnDefinition {
  const [, name = '', rest = ''] = /^(\w+)\s+(.*)$/s.exec(definition) ?? [];
  return { name, type: rest.split(/ (?:COMMENT|CODEC)\b/)[0] as string };
}

function defaultOf(type: string): SqlValue {
  if (type.startsWith('Nullable')) return null;
  if (/^U?Int/.test(type) || type.startsWith('DateTime')) return 0;
  return '';
}

/** Characters outside of strings, with their index and how many parentheses are open before them. */
function* scanUnquoted(text: string, from: number): Iterable<[at: number, character: string, depth: number]> {
  let depth = 0;
  let isText = false;
  for (let at = from; at < text.length; at++) {
    const character = text[at] as string;
    if (isText) {
      if (character === '\\') at++;
      else if (character === "'") isText = false;
      continue;
    }
    if (character === "'") isText = true;
    else yield [at, character, depth];
    if (character === '(') depth++;
    else if (character === ')') depth--;
  }
}

/** Index of the closing parenthesis whose opening one is just before `from`. */
function findClosing(text: string, from: number): number {
  for (const [at, character, depth] of scanUnquoted(text, from))
    if (character === ')' && depth === 0) return at;
  throw new Error('a parenthesis is not closed');
}

/** Parts between commas that no parenthesis or string surrounds. */
function splitTop(text: string): string[] {
  const commas = [...scanUnquoted(text, 0)].flatMap(([at, character, depth]) =>
    character === ',' && depth === 0 ? [at] : [],
  );
  return [...commas, text.length].map((end, index) =>
    text.slice(index === 0 ? 0 : (commas[index - 1] as number) + 1, end).trim(),
  );
}
