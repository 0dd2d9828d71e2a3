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

/** The cell of an unknown value in ClickHouse's `TabSeparated` format. */
export const nullCell = '\\N';

/** A string as a cell of ClickHouse's `TabSeparated` format. */
export function escapeCell(text: string): string {
  return escaped.test(text) ? escapeAll(text) : text;
}

/** A string as an SQL literal. */
export function sqlString(value: string): string {
  return `'${escapeAll(value).replaceAll("'", "\\'")}'`;
}

function escapeAll(text: string): string {
  return text.replace(allEscaped, (character) => escapes[character] as string);
}
