const escapes: Record<string, string> = {
  '\\': '\\\\',
  "'": "\\'",
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\0': '\\0',
  '\b': '\\b',
  '\f': '\\f',
};

export function sqlString(value: string): string {
  const escaped = value.replace(/[\\'\t\n\r\0\b\f]/g, (character) => escapes[character] as string);
  return `'${escaped}'`;
}
