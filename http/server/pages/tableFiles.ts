import { nice } from 'd3-array';
import { formatScale } from '../../explorer/format/numbers.ts';
import { coverageNames } from '../../explorer/format/words.ts';
import type { DataRows } from '../../explorer/tables/dataTable.ts';

/** Writes CSV by RFC 4180. Unknown values are empty. */
export function writeCsv<Row>({ rows, columns }: DataRows<Row>): string {
  const lines = [
    columns.map(({ name }) => name),
    ...rows.map((row) => columns.map(({ value }) => value(row) ?? '')),
  ];
  return lines.map((cells) => `${cells.map((cell) => quote(String(cell))).join(',')}\r\n`).join('');
}

function quote(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

const [width, height] = [960, 450];
const plot = { left: 96, top: 74, width: 840, bottom: 360 };
/** Where texts begin, and how many characters of them fit in a line. */
const [margin, lineMax] = [16, 100];

/**
 * Draws a column of a table as an SVG image that needs no style sheet. Unknown values are hatched, partly observed ones lighter.
 *
 * @param source what the figures are of, to be written below them.
 * @returns null for a table without rows, or without a column to draw.
 */
export function writeImage<Row>(
  { caption, rows, columns, drawn }: DataRows<Row>,
  source: string,
): string | null {
  const column = columns.find(({ name }) => name === drawn);
  const coverage = columns.find(({ name }) => name === 'coverage');
  const time = columns.find(({ name }) => name === 'from_utc') ?? columns[0];
  if (column === undefined || time === undefined || rows.length === 0) return null;
  const values = rows.map((row) => column.value(row));
  const largest = nice(0, Math.max(...values.map(Number)) || 1, 3)[1];
  const step = plot.width / rows.length;
  const bars = values.map((value, index) => {
    const size = value === null ? 1 : Number(value) / largest;
    const top = plot.bottom - size * (plot.bottom - plot.top);
    const isWhole = coverage === undefined || coverage.value(rows[index] as Row) === coverageNames.complete;
    const fill = value === null ? 'url(#unknown)' : isWhole ? '#0b6a56' : '#85b5aa';
    return `<rect x="${plot.left + index * step}" y="${top}" width="${step * 0.8}" height="${plot.bottom - top}" fill="${fill}"/>`;
  });
  const write = (x: number, y: number, text: string, attributes = '') =>
    `<text x="${x}" y="${y}" ${attributes}>${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`;
  const [first, last] = [rows[0], rows.at(-1)].map((row) =>
    row === undefined ? '' : String(time.value(row)).slice(0, 16).replace('T', ' '),
  ) as [string, string];
  const right = plot.left + plot.width;
  const notes = `${coverage === undefined ? '' : ' Lighter: partly observed, or so far.'}${values.includes(null) ? ' Hatched: unknown.' : ''}`;
  const lines = `${source}${notes}`.match(new RegExp(`.{1,${lineMax}}(?= |$)|.{1,${lineMax}}`, 'g')) ?? [];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" font-size="14" fill="#1b2320">
<pattern id="unknown" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="2" height="6" fill="#c9c4b6"/></pattern>
<rect width="${width}" height="${height}" fill="#fff"/>
${write(margin, 30, caption, 'font-size="20"')}
${write(margin, 56, column.name.replaceAll('_', ' '))}
${write(plot.left - 8, plot.top + 5, formatScale(largest), 'text-anchor="end"')}
${write(plot.left - 8, plot.bottom, '0', 'text-anchor="end"')}
${bars.join('\n')}
<path d="M${plot.left} ${plot.bottom}h${plot.width}M${plot.left} ${plot.top}h${plot.width}" stroke="#b9bdb5"/>
${write(plot.left, plot.bottom + 22, `${first} UTC`)}
${write(right, plot.bottom + 22, `${last} UTC`, 'text-anchor="end"')}
${lines.map((line, index) => write(margin, plot.bottom + 44 + index * 18, line, 'fill="#56625d"')).join('\n')}
</svg>
`;
}
