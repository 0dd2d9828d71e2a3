import { findFirstObservedMs, findKnown, type Known } from '../../explorer/charts/observed.ts';
import type { Bodies, ReadBody } from '../../explorer/page.ts';
import { parsePlace, type StatisticsRange } from '../../explorer/place.ts';
import {
  corePath,
  listOwnerPaths,
  settlementsPath,
  statisticsPath,
  statusPath,
  yearPath,
} from '../../explorer/resources.ts';
import { type DataRows, writeCsv } from '../../explorer/tables/dataTable.ts';
import {
  daysTable,
  dayTable,
  difficultyTable,
  earningsTable,
  halfHoursTable,
  settlementsTable,
} from '../../explorer/tables/tables.ts';
import { parseOwner } from '../../routes/ownerAddress.ts';

/** A table of the explorer as a file. */
export interface CsvTable {
  /** Paths of the routes whose bodies must be read for it, because no view says whether they are current. */
  readonly readPaths: readonly string[];
  /** @returns null if what it shows cannot be read at the moment, and `none` if there is no such table. */
  write(read: ReadBody): CsvFile | 'none' | null;
}

interface CsvFile {
  /** With the wheel and the dates of its rows. */
  readonly name: string;
  readonly text: string;
}

/** Names the days of a table, by the first and last row. */
type Span = readonly [from: string | undefined, to: string | undefined];

/** @returns the table of a path such as `/tables/days.csv`; null if there is none. */
export function findCsvTable(name: string, query: string): CsvTable | null {
  const define = definitions[name];
  return define?.(new URLSearchParams(query)) ?? null;
}

const definitions: Readonly<Record<string, ((query: URLSearchParams) => CsvTable | null) | undefined>> = {
  'today.csv': (query) => ofDay(parseRange(query), (days) => days.at(-1)),
  'day.csv': (query) => ofDay('30d', (days) => days.find(({ date }) => date === query.get('date'))),
  'half-hours.csv': (query) => ofStatistics('half-hours', query, halfHoursTable, (days) => days),
  'days.csv': (query) =>
    ofStatistics(
      'days',
      query,
      ({ activity }, { firstObservedMs }) => daysTable(activity.days, firstObservedMs),
      (days) => days,
    ),
  'year.csv': () => ({
    readPaths: [],
    write: (read) => {
      const [year, statistics] = [read('year', yearPath), read('statistics', statisticsPath('7d'))];
      if (year === null || statistics === null) return null;
      const firstObservedMs = findFirstObservedMs(statistics);
      return writeFile(read, 'days', daysTable(year.days, firstObservedMs), nameDays(year.days));
    },
  }),
  'settlements.csv': (query) => ({
    readPaths: [],
    write: (read) => {
      const place = parsePlace('/settlements', query.toString());
      const history = place.view === 'settlements' ? read('settlements', settlementsPath(place.range)) : null;
      if (history?.status !== 'available') return null;
      const { buckets } = history;
      return writeFile(read, 'settlements', settlementsTable(history), [
        buckets[0]?.startAt.slice(0, 10),
        buckets.at(-1)?.startAt.slice(0, 10),
      ]);
    },
  }),
  'difficulty.csv': () => ({
    readPaths: [],
    write: (read) => {
      const core = read('core', corePath);
      if (core?.status !== 'available') return null;
      const table = difficultyTable(core);
      const [first, last] = [table.rows[0], table.rows.at(-1)];
      return writeFile(read, 'difficulty', table, [first?.at.slice(0, 10), last?.at.slice(0, 10)]);
    },
  }),
  'earnings.csv': (query) => {
    const owner = parseOwner(query.get('owner') ?? '');
    if (owner === null) return null;
    const path = listOwnerPaths(owner).positions;
    return {
      readPaths: [path],
      write: (read) => {
        const portfolio = read('portfolio', path);
        if (portfolio?.status !== 'available') return null;
        return writeFile(read, `earnings-${owner}`, earningsTable(portfolio), nameDays(portfolio.earnings));
      },
    };
  },
};

type Statistics = Bodies['statistics'];
type Days = Statistics['activity']['days'];

function ofStatistics<Row>(
  name: string,
  query: URLSearchParams,
  build: (statistics: Statistics, known: Known) => DataRows<Row>,
  choose: (days: Days) => Days,
): CsvTable {
  return {
    readPaths: [],
    write: (read) => {
      const statistics = read('statistics', statisticsPath(parseRange(query)));
      if (statistics === null) return null;
      return writeFile(
        read,
        name,
        build(statistics, findKnown(statistics, read)),
        nameDays(choose(statistics.activity.days)),
      );
    },
  };
}

/** The half hours of a day of a range. */
function ofDay(range: StatisticsRange, find: (days: Days) => Days[number] | undefined): CsvTable {
  return {
    readPaths: [],
    write: (read) => {
      const statistics = read('statistics', statisticsPath(range));
      if (statistics === null) return null;
      const day = find(statistics.activity.days);
      if (day === undefined) return 'none';
      return writeFile(
        read,
        'half-hours',
        dayTable(statistics, day, findKnown(statistics, read)),
        nameDays([day]),
      );
    },
  };
}

function parseRange(query: URLSearchParams): StatisticsRange {
  const place = parsePlace('/statistics', query.toString());
  return place.view === 'statistics' ? place.range : '7d';
}

function nameDays(days: readonly { readonly date: string }[]): Span {
  return [days[0]?.date, days.at(-1)?.date];
}

function writeFile<Row>(read: ReadBody, what: string, table: DataRows<Row>, [from, to]: Span): CsvFile {
  const wheel = read('status', statusPath)?.installationId ?? 'wheel';
  const dates = from === undefined ? [] : from === to ? [from] : [from, 'to', to];
  const name = [wheel, what, ...dates].join('-').replace(/[^\w.-]/g, '_');
  return { name: `${name}.csv`, text: writeCsv(table) };
}
