/** A value of a row. Integers beyond 2^53 are bigints. */
export type Cell = string | number | bigint | null;

const escapes: Record<string, string> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\0': '\\0',
  '\b': '\\b',
  '\f': '\\f',
};
const escaped = /[\\\t\n\r\0\b\f]/;
const allEscaped = /[\\\t\n\r\0\b\f]/g;

/** A value as a cell of ClickHouse's `TabSeparated` format. */
export function cellText(cell: Cell): string {
  if (cell === null) return '\\N';
  if (typeof cell !== 'string') return String(cell);
  return escaped.test(cell) ? cell.replace(allEscaped, (character) => escapes[character] as string) : cell;
}

/** A string as an SQL literal. */
export function sqlString(value: string): string {
  return `'${value.replace(allEscaped, (character) => escapes[character] as string).replaceAll("'", "\\'")}'`;
}
