/** A table as CSV: cells with commas or quotation marks are quoted. Markdown's backticks are left out. */
export function writeCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(writeCell).join(',')}\n`).join('');
}

function writeCell(text: string): string {
  const plain = text.replaceAll('`', '');
  return /[",]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
