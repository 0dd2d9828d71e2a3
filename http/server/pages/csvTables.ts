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
  /** Names the table in caches: parameters that nobody knows make no other table. */
  readonly key: string;
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

/** @returns the table of a path such as `/tables/days.csv`; null if there is none. */
export function findCsvTable(name: string, query: string): CsvTable | null {
  const parameters = new URLSearchParams(query);
  switch (name) {
    case 'today.csv':
      return ofDay('today', parseRange(query), (days) => days.at(-1));
    case 'day.csv': {
      const date = parameters.get('date') ?? '';
      return ofDay(`day ${date}`, '30d', (days) => days.find((day) => day.date === date));
    }
    case 'half-hours.csv':
      return ofStatistics('half-hours', 'half-hours', parseRange(query), halfHoursTable);
    case 'days.csv':
      return ofStatistics('days', 'days', parseRange(query), ({ activity }, { firstObservedMs }) =>
        daysTable(activity.days, firstObservedMs),
      );
    case 'year.csv':
      return ofViews('year', (read) => {
        const [year, statistics] = [read('year', yearPath), read('statistics', statisticsPath('7d'))];
        if (year === null || statistics === null) return null;
        return writeFile(read, 'days', daysTable(year.days, findFirstObservedMs(statistics)));
      });
    case 'settlements.csv': {
      const place = parsePlace('/settlements', query);
      const range = place.view === 'settlements' ? place.range : '7d';
      return ofViews(`settlements ${range}`, (read) => {
        const history = read('settlements', settlementsPath(range));
        if (history?.status !== 'available') return null;
        return writeFile(read, 'settlements', settlementsTable(history));
      });
    }
    case 'difficulty.csv':
      return ofViews('difficulty', (read) => {
        const core = read('core', corePath);
        return core?.status === 'available' ? writeFile(read, 'difficulty', difficultyTable(core)) : null;
      });
    case 'earnings.csv': {
      const owner = parseOwner(parameters.get('owner') ?? '');
      if (owner === null) return null;
      const path = listOwnerPaths(owner).positions;
      const table = ofViews(`earnings ${owner}`, (read) => {
        const portfolio = read('portfolio', path);
        if (portfolio?.status !== 'available') return null;
        return writeFile(read, `earnings-${owner}`, earningsTable(portfolio));
      });
      return { ...table, readPaths: [path] };
    }
    default:
      return null;
  }
}

type Statistics = Bodies['statistics'];
type Days = Statistics['activity']['days'];

function ofViews(key: string, write: CsvTable['write']): CsvTable {
  return { key: `table ${key}`, readPaths: [], write };
}

/** @param build returns null if there is no such table. */
function ofStatistics<Row>(
  key: string,
  what: string,
  range: StatisticsRange,
  build: (statistics: Statistics, known: Known) => DataRows<Row> | null,
): CsvTable {
  return ofViews(`${key} ${range}`, (read) => {
    const statistics = read('statistics', statisticsPath(range));
    if (statistics === null) return null;
    const table = build(statistics, findKnown(statistics, read));
    return table === null ? 'none' : writeFile(read, what, table);
  });
}

/** The half hours of a day of a range. */
function ofDay(
  key: string,
  range: StatisticsRange,
  find: (days: Days) => Days[number] | undefined,
): CsvTable {
  return ofStatistics(key, 'half-hours', range, (statistics, known) => {
    const day = find(statistics.activity.days);
    return day === undefined ? null : dayTable(statistics, day, known);
  });
}

function parseRange(query: string): StatisticsRange {
  const place = parsePlace('/statistics', query);
  return place.view === 'statistics' ? place.range : '7d';
}

/** The first column of each table is a date, or a time. */
function writeFile<Row>(read: ReadBody, what: string, table: DataRows<Row>): CsvFile {
  const wheel = read('status', statusPath)?.installationId ?? 'wheel';
  const dates = [table.rows[0], table.rows.at(-1)].flatMap((row) =>
    row === undefined ? [] : [String(table.columns[0]?.value(row)).slice(0, 10)],
  );
  const span = [...new Set(dates)].join('-to-');
  const name = [wheel, what, ...(span === '' ? [] : [span])].join('-').replace(/[^\w.-]/g, '_');
  return { name: `${name}.csv`, text: writeCsv(table) };
}
