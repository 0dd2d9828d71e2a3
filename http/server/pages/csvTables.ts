import { findFirstObservedMs, findKnown, type Known } from '../../explorer/charts/observed.ts';
import { isDate } from '../../explorer/days.ts';
import type { Bodies, ReadBody } from '../../explorer/page.ts';
import {
  parsePlace,
  type StatisticsRange,
  settlementsRanges,
  statisticsRanges,
} from '../../explorer/place.ts';
import {
  corePath,
  listOwnerPaths,
  recordPath,
  settlementsPath,
  statisticsPath,
  yearPath,
} from '../../explorer/resources.ts';
import type { DataRows } from '../../explorer/tables/dataTable.ts';
import {
  daysTable,
  dayTable,
  difficultyTable,
  earningsTable,
  halfHoursTable,
  settlementsTable,
} from '../../explorer/tables/tables.ts';
import { parseOwner } from '../../routes/ownerAddress.ts';
import { type CsvTable, ofRoute, type TableFile, writeFile } from './csvFile.ts';
import { csvLists } from './csvLists.ts';

/** The tables by the names of their files. Each is limited like the route that it shows. */
export const csvTables: Readonly<Record<string, TableFile>> = {
  'today.csv': ofRoute('/v1/measurement/stats', { range: statisticsRanges }, (query) =>
    ofStatistics('today', 'half-hours', parseRange(query), (statistics, known) => {
      const today = statistics.activity.days.at(-1);
      return today === undefined ? 'none' : dayTable(statistics, today, known);
    }),
  ),
  'day.csv': ofRoute('/v1/measurement/stats', { date: null }, (query) => {
    const date = new URLSearchParams(query).get('date') ?? '';
    if (!isDate(date)) return null;
    const path = recordPath('day', date);
    const table = ofStatistics(path, 'half-hours', '30d', (statistics, known, read) => {
      const found = read('day', path);
      if (found === null) return null;
      const { day } = found;
      return day.coverage.expectedRoundCount > 0 ? dayTable(statistics, day, known) : 'none';
    });
    return { ...table, readPaths: [path] };
  }),
  'half-hours.csv': ofRoute('/v1/measurement/stats', { range: statisticsRanges }, (query) =>
    ofStatistics('half-hours', 'half-hours', parseRange(query), halfHoursTable),
  ),
  'days.csv': ofRoute('/v1/measurement/stats', { range: statisticsRanges }, (query) =>
    ofStatistics('days', 'days', parseRange(query), ({ activity }, { firstObservedMs }) =>
      daysTable(activity.days, firstObservedMs),
    ),
  ),
  'year.csv': ofRoute(yearPath, {}, () =>
    ofViews('year', (read) => {
      const [year, statistics] = [read('year', yearPath), read('statistics', statisticsPath('7d'))];
      if (year === null || statistics === null) return null;
      return writeFile(read, 'days', daysTable(year.days, findFirstObservedMs(statistics)));
    }),
  ),
  'settlements.csv': ofRoute('/v1/settlements', { range: settlementsRanges }, (query) => {
    const place = parsePlace('/settlements', query);
    const range = place.view === 'settlements' ? place.range : '7d';
    return ofViews(`settlements ${range}`, (read) => {
      const history = read('settlements', settlementsPath(range));
      if (history?.status !== 'available') return null;
      return writeFile(read, 'settlements', settlementsTable(history));
    });
  }),
  'difficulty.csv': ofRoute(corePath, {}, () =>
    ofViews('difficulty', (read) => {
      const core = read('core', corePath);
      return core?.status === 'available' ? writeFile(read, 'difficulty', difficultyTable(core)) : null;
    }),
  ),
  'earnings.csv': ofRoute('/v1/owners/{address}/miners', { owner: null }, (query) => {
    const owner = parseOwner(new URLSearchParams(query).get('owner') ?? '');
    if (owner === null) return null;
    const path = listOwnerPaths(owner).positions;
    const table = ofViews(`earnings ${owner}`, (read) => {
      const portfolio = read('portfolio', path);
      if (portfolio?.status !== 'available') return null;
      return writeFile(read, `earnings-${owner}`, earningsTable(portfolio));
    });
    return { ...table, readPaths: [path] };
  }),
  ...csvLists,
};

type Statistics = Bodies['statistics'];

function ofViews(key: string, write: CsvTable['write']): CsvTable {
  return { key: `table ${key}`, readPaths: [], pagePath: null, write };
}

/** @param build returns `none` if there is no such table, and null if it cannot be read at the moment. */
function ofStatistics<Row>(
  key: string,
  what: string,
  range: StatisticsRange,
  build: (statistics: Statistics, known: Known, read: ReadBody) => DataRows<Row> | 'none' | null,
): CsvTable {
  return ofViews(`${key} ${range}`, (read) => {
    const statistics = read('statistics', statisticsPath(range));
    if (statistics === null) return null;
    const table = build(statistics, findKnown(statistics, read), read);
    return table === null || table === 'none' ? table : writeFile(read, what, table);
  });
}

function parseRange(query: string): StatisticsRange {
  const place = parsePlace('/statistics', query);
  return place.view === 'statistics' ? place.range : '7d';
}
