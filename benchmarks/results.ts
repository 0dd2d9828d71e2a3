import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, roundForTable, type Series } from './measureInterleaved.ts';
import { otherProgram } from './serviceProcess.ts';

const resultsDir = fileURLToPath(new URL('../../benchmarks/results', import.meta.url));

interface Results {
  readonly command: string;
  /** How it was measured. */
  readonly about?: string;
  readonly tables: readonly ResultTable[];
}

export interface ResultTable {
  readonly title: string;
  /** Such as `messages/s`. */
  readonly unit: string;
  readonly isLessBetter?: boolean;
  /** Whether the first series is the service and the others are compared with it; true by default. */
  readonly isComparison?: boolean;
  readonly series: readonly Series[];
}

export interface PartialRun {
  /** Folder for CPU profiles of the service (`.cpuprofile`, for the developer tools of a browser or an editor). The profiler takes part of the time. */
  readonly profile?: string | undefined;
  /** Measures only cases with this in their name. */
  readonly only?: string | undefined;
}

/** Prints the results. Unless the run is partial or of another version, replaces their file in `benchmarks/results`. */
export function publishResults(
  { command, about, tables }: Results,
  { profile, only }: PartialRun = {},
): void {
  const lines = tables.flatMap(tableLines);
  process.stdout.write(`${lines.join('\n')}\n`);
  if (profile !== undefined) process.stderr.write(`profiles: ${resolve(profile)}\n`);
  if (profile !== undefined || only !== undefined || otherProgram !== undefined) return;
  const [cpu] = cpus();
  const date = new Date().toISOString().slice(0, 10);
  const machine = `Node ${process.version}, ${cpus().length} cores (${cpu?.model ?? 'unknown'}), ${date}:`;
  const aboutLines = about === undefined ? [] : [about, ''];
  writeFileSync(`${resultsDir}/${command}.txt`, [machine, '', ...aboutLines, ...lines].join('\n'));
}

/**
 * Divides two figures turn by turn. The machine may be twice as slow a minute later, but not within a turn, so the median of these ratios says more than the
 * ratio of medians.
 */
function divideTurns(dividends: readonly number[], divisors: readonly number[]): number[] {
  return dividends.map((value, turn) => value / (divisors[turn] ?? Number.NaN));
}

/** Median and the range of three quarters of the ratios: an eighth at each end is left out. */
function describeRatios(ratios: readonly number[]): string {
  const sorted = ratios.toSorted((a, b) => a - b);
  const leftOut = Math.floor(sorted.length / 8);
  const [lowest, highest] = [sorted[leftOut], sorted.at(-1 - leftOut)];
  return `${roundForTable(median(ratios))} (${roundForTable(lowest ?? Number.NaN)} – ${roundForTable(highest ?? Number.NaN)})`;
}

/** The first series is the service; the others have ratios next to their figures. */
function tableLines(table: ResultTable): string[] {
  const { title, unit, isComparison = true, series } = table;
  const own = series[0] as Series;
  const further = Object.keys(own.others ?? {});
  const rows = series.map((one) => {
    const comparedWith = isComparison && one !== own ? own : null;
    const ratios = comparedWith === null ? '' : describeRatios(divideOwn(table, one));
    const noise = isComparison ? ratios : describeSpread(one.values);
    const figures = further.map((figure) => ` ${describeFigure(figure, one, comparedWith)} |`).join('');
    return `| ${one.name} | ${roundForTable(median(one.values))} | ${noise} |${figures}`;
  });
  const names = further.map((figure) => ` ${figure} |`).join('');
  return [
    `| ${title} | median ${unit} | ${isComparison ? 'ours is ×' : 'spread'} |${names}`,
    `|---|---|---|${'---|'.repeat(further.length)}`,
    ...rows,
    '',
  ];
}

/** Least and greatest value; empty for a single one. */
function describeSpread(values: readonly number[]): string {
  return values.length === 1 ? '' : [Math.min(...values), Math.max(...values)].map(roundForTable).join(' – ');
}

/** How many times better the service is, for each turn. */
function divideOwn({ series, isLessBetter = false }: ResultTable, { values }: Series): number[] {
  const own = (series[0] as Series).values;
  return isLessBetter ? divideTurns(values, own) : divideTurns(own, values);
}

/** Median of a further figure; with `own`, also how many times as much the service has. Empty if it was not measured. */
function describeFigure(figure: string, { others }: Series, own: Series | null): string {
  const values = others?.[figure] ?? [];
  if (values.length === 0) return '';
  const text = roundForTable(median(values));
  if (own === null) return text;
  const ratios = divideTurns(own.others?.[figure] ?? [], values);
  return `${text} (${roundForTable(median(ratios))})`;
}
