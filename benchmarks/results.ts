import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { median, roundForTable, type Series } from './measureInterleaved.ts';

const readmeFile = fileURLToPath(new URL('../../benchmarks/README.md', import.meta.url));
const resultsDir = fileURLToPath(new URL('../../benchmarks/results', import.meta.url));

/** The results of a benchmark. */
export interface Results {
  /** The command that measures it. */
  readonly command: string;
  /** What a reader has to know of how it was measured. */
  readonly about?: string;
  readonly tables: readonly ResultTable[];
}

/** Measurements of one unit. */
export interface ResultTable {
  readonly title: string;
  /** Such as `messages/s`. */
  readonly unit: string;
  readonly isLessBetter?: boolean;
  /** Whether the first of them is the service, and the others are what it is compared with; so by default. */
  readonly isComparison?: boolean;
  readonly series: readonly Series[];
}

/** Prints the results, saves them as JSON in the folder of the benchmarks, and puts them into the README of the benchmarks. */
export function publishResults(results: Results): void {
  const lines = printResults(results);
  mkdirSync(resultsDir, { recursive: true });
  const about = { node: process.version, cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length };
  const file = `${resultsDir}/${results.command}.json`;
  writeFileSync(
    file,
    `${JSON.stringify({ ...results, measuredAt: new Date().toISOString(), ...about }, null, 2)}\n`,
  );
  const readme = readFileSync(readmeFile, 'utf8');
  const [begin, end] = [`<!-- ${results.command} -->`, `<!-- end of ${results.command} -->`];
  const from = readme.indexOf(begin);
  const to = readme.indexOf(end);
  if (from === -1 || to === -1) throw new Error(`${readmeFile} has no place for ${begin}`);
  const machine = `Node ${process.version}, ${about.cores} cores (${about.cpu}), ${new Date().toISOString().slice(0, 10)}:`;
  const aboutLines = results.about === undefined ? [] : [results.about, ''];
  const section = [begin, '', machine, '', ...aboutLines, ...lines, ''].join('\n');
  writeFileSync(readmeFile, `${readme.slice(0, from)}${section}${readme.slice(to)}`);
}

/** Prints them, and leaves what is published as it is. */
export function printResults({ tables }: Results): string[] {
  const lines = tables.flatMap(tableLines);
  process.stdout.write(`${lines.join('\n')}\n`);
  return lines;
}

/** The first series is the service; the last column says how much better it is than each other one. */
function tableLines(table: ResultTable): string[] {
  const { title, unit, isLessBetter = false, isComparison = true, series } = table;
  const own = median((series[0] as Series).values);
  const further = Object.keys((series[0] as Series).others ?? {});
  const rows = series.map(({ name, values, others = {} }, index) => {
    const other = median(values);
    const ratio = index === 0 ? '' : roundForTable(isLessBetter ? other / own : own / other);
    const compared = isComparison ? ` ${ratio} |` : '';
    const spread = `${roundForTable(Math.min(...values))} – ${roundForTable(Math.max(...values))}`;
    const figures = further.map((figure) => ` ${roundForTable(median(others[figure] ?? []))} |`).join('');
    return `| ${name} | ${roundForTable(other)} | ${spread} |${compared}${figures}`;
  });
  const names = further.map((figure) => ` ${figure} |`).join('');
  return [
    `| ${title} | median ${unit} | spread |${isComparison ? ' ours is × |' : ''}${names}`,
    `|---|---|---|${'---|'.repeat(further.length + (isComparison ? 1 : 0))}`,
    ...rows,
    '',
  ];
}
