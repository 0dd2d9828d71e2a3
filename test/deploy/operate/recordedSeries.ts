/** One scrape of one process. */
export interface Scrape {
  readonly atSeconds: number;
  /** Values by series, such as `miner_indexer_state{state="following"}`. */
  readonly values: ReadonlyMap<string, number>;
}

/** Consecutive scrapes of one process, at least two. */
export interface Recording {
  readonly job: 'miner' | 'miner-indexer';
  readonly instance: string;
  readonly scrapes: readonly Scrape[];
}

/** Values that say whether a process does its work. It may alternate between the states in which it does not. */
const conditions = /^miner_ready\b|^miner_(?:stream|indexer)_state\{.*state="following"/;
/** Values that rise for as long as a process does its work, by what it did between two scrapes. */
const rising =
  /^(?:\w+_total|miner_(?:stream_position|stream_last_sequence|snapshot_position|rows_flushed_position|\w+_block))\b/;

const nameOf = (series: string) => series.replace(/\{.*/s, '');

/** @param text body of `/metrics`. Only metrics in `names` are kept. */
export function parseScrape(text: string, names: ReadonlySet<string>, atSeconds: number): Scrape {
  const lines = [...text.matchAll(/^(\w+(?:\{.*\})?) (\S+)$/gm)];
  const kept = lines.filter(([, series = '']) => names.has(nameOf(series)));
  return { atSeconds, values: new Map(kept.map(([, series = '', value]) => [series, Number(value)])) };
}

/**
 * Which series a scrape has, and whether the process does its work. Two scrapes in the same condition have the same text.
 *
 * @param constant further series whose values belong to the condition.
 */
export function describeCondition({ values }: Scrape, constant: RegExp | null): string {
  return [...values]
    .map(([series, value]) =>
      conditions.test(series) || constant?.test(series) ? `${series} ${value}` : series,
    )
    .sort()
    .join('\n');
}

/** Seconds between two scrapes of the shipped configuration of Prometheus. */
export const scrapeSeconds = 15;

/**
 * Continues a recording for hours, with the scrapes of Prometheus from second 0 on. Counters and positions go on rising at the pace at which they
 * rose, and the time since an event that did not happen again goes on as clocks do. All other values repeat.
 *
 * @returns values in promtool's notation, by series.
 */
export function stretch({ job, instance, scrapes }: Recording, hours: number): Record<string, string> {
  const [first, last] = [scrapes[0] as Scrape, scrapes.at(-1) as Scrape];
  const recordedSeconds = last.atSeconds - first.atSeconds;
  const read = ({ values }: Scrape, series: string) => values.get(series) ?? Number.NaN;

  function valueAt(series: string, index: number): number {
    const atSeconds = index * scrapeSeconds;
    if (series === 'process_start_time_seconds') return read(first, series) - first.atSeconds;
    if (isElapsing(series)) return read(first, series) + atSeconds;
    if (!rising.test(series)) return read(scrapes[index % scrapes.length] as Scrape, series);
    const grown = read(last, series) - read(first, series);
    const passed = scrapes.findLast(
      (scrape) => scrape.atSeconds - first.atSeconds <= atSeconds % recordedSeconds,
    );
    return read(passed ?? first, series) + grown * Math.floor(atSeconds / recordedSeconds);
  }

  /** Whether the value grew by the time between each two scrapes. */
  function isElapsing(series: string): boolean {
    if (!/_seconds\b/.test(series)) return false;
    return scrapes.slice(1).every((scrape, index) => {
      const before = scrapes[index] as Scrape;
      return read(scrape, series) - read(before, series) > 0.8 * (scrape.atSeconds - before.atSeconds);
    });
  }

  const target = `job="${job}",instance="${instance}"`;
  const addTarget = (series: string) => {
    const labels = /\{(.*)\}$/s.exec(series)?.[1];
    return `${nameOf(series)}{${labels === undefined ? target : `${labels},${target}`}}`;
  };
  const count = (hours * 3_600) / scrapeSeconds + 1;
  const stretched = [...last.values.keys()].map((series) => [
    addTarget(series),
    Array.from({ length: count }, (_, index) => valueAt(series, index)).join(' '),
  ]);
  return Object.fromEntries([[addTarget('up'), `1x${count - 1}`], ...stretched]);
}
