import { type StatisticsRange, statisticsRanges } from '../../../actors/statistics/statistics.ts';
import { settlementRanges } from '../../../actors/views/chain/settlementHistory.ts';
import { isDate } from '../../addresses/days.ts';
import { parseOwner } from '../../addresses/ownerAddress.ts';
import { findFirstObservedMs, findKnown } from '../../explorer/charts/observed.ts';
import { describeUnreal } from '../../explorer/format/networks.ts';
import type { PageChain, ReadBody } from '../../explorer/page.ts';
import {
  listOwnerPaths,
  recordPath,
  settlementsPath,
  statisticsPath,
  statusPath,
} from '../../explorer/resources.ts';
import type { DataRows } from '../../explorer/tables/dataTable.ts';
import {
  activityTable,
  daysTable,
  earningsTable,
  halfHoursTable,
  settlementsTable,
} from '../../explorer/tables/tables.ts';
import { pageMax } from '../../responses/scalars.ts';
import { revalidated } from '../../routes/cacheControl.ts';
import { createHttpError } from '../../routes/errors.ts';
import { parseExactQuery } from '../../routes/parameters.ts';
import { prepareDocument } from '../answers/preparedResponse.ts';
import { retryAfterSeconds } from '../answers/routeAnswers.ts';
import type { Header } from '../engine/headerBlock.ts';
import type { ExplorerPage, PageReads } from './pageReads.ts';
import { writeCsv, writeImage } from './tableFiles.ts';

interface TableFile {
  /** With the wheel and the dates of its rows, without an extension. */
  readonly name: string;
  readonly csv: string;
  /** Writes it as an image, with what the figures are of; null for a table without one. */
  readonly draw: (source: string) => string | null;
  /** Address of the file with the entries before these, if there are any. */
  readonly next?: string;
}

/** A table of the explorer, or of a page of a list, as a file. */
interface CsvTable {
  /** Path of the route that must be read for it, because no view says whether its body is current. */
  readonly readPath?: string;
  /** @returns null if what it shows cannot be read at the moment, and `none` if there is no such table. */
  readonly write: (read: ReadBody) => TableFile | 'none' | null;
}

type Refusal = 'invalid_query' | 'not_found';

interface TableKind {
  readonly parameters: readonly string[];
  readonly find: (values: Readonly<Record<string, string>>) => CsvTable | Refusal;
}

/** The tables by the names of their files, without their extension. */
const tableKinds: Readonly<Record<string, TableKind>> = {
  'half-hours': {
    parameters: ['range', 'date'],
    find: ({ range: requested, date }) => {
      if (date !== undefined) return requested === undefined ? ofDay(date) : 'invalid_query';
      return ofStatistics(requested, 'half-hours', (statistics, read) =>
        halfHoursTable(statistics.activity.days, findKnown(statistics, read)),
      );
    },
  },
  days: {
    parameters: ['range'],
    find: ({ range }) =>
      ofStatistics(range, 'days', (statistics) =>
        daysTable(statistics.activity.days, findFirstObservedMs(statistics)),
      ),
  },
  settlements: {
    parameters: ['range'],
    find: ({ range: requested }) => {
      const range = choose(settlementRanges, requested);
      if (range === null) return 'invalid_query';
      return {
        write: (read) => {
          const history = read('settlements', settlementsPath(range));
          if (history?.status !== 'available') return null;
          return writeFile(read, 'settlements', settlementsTable(history));
        },
      };
    },
  },
  earnings: {
    parameters: ['owner'],
    find: ({ owner: requested = '' }) => {
      const owner = parseOwner(requested);
      if (owner === null) return 'not_found';
      const readPath = listOwnerPaths(owner).positions;
      return {
        readPath,
        write: (read) => {
          const portfolio = read('portfolio', readPath);
          if (portfolio?.status !== 'available') return null;
          return writeFile(read, `earnings-${owner}`, earningsTable(portfolio), ` Owner ${owner}.`);
        },
      };
    },
  },
  activity: {
    parameters: ['owner', 'limit', 'cursor'],
    find: ({ owner: requested = '', ...page }) => {
      const owner = parseOwner(requested);
      if (owner === null) return 'not_found';
      const query = { limit: String(pageMax), ...page };
      const readPath = `${listOwnerPaths(owner).activity}?${new URLSearchParams(query)}`;
      return {
        readPath,
        write: (read) => {
          const found = read('activity', readPath);
          if (found?.status !== 'available') return null;
          const file = writeFile(read, `activity-${owner}`, activityTable(found));
          const { nextCursor: cursor } = found;
          if (cursor === null) return file;
          return {
            ...file,
            next: `/tables/activity.csv?${new URLSearchParams({ owner, ...query, cursor })}`,
          };
        },
      };
    },
  },
};

export const tableNames = Object.keys(tableKinds).flatMap((name) => [`${name}.csv`, `${name}.svg`]);

/** A table of the statistics of a range. */
function ofStatistics<Row>(
  requested: string | undefined,
  what: string,
  list: (statistics: NonNullable<ReturnType<typeof readStatistics>>, read: ReadBody) => DataRows<Row>,
): CsvTable | Refusal {
  const range = choose(statisticsRanges, requested);
  if (range === null) return 'invalid_query';
  return {
    write: (read) => {
      const statistics = readStatistics(read, range);
      return statistics === null ? null : writeFile(read, what, list(statistics, read));
    },
  };
}

function readStatistics(read: ReadBody, range: StatisticsRange) {
  return read('statistics', statisticsPath(range));
}

/** The half hours of a universal day. */
function ofDay(date: string): CsvTable | Refusal {
  if (!isDate(date)) return 'not_found';
  const readPath = recordPath('day', date);
  return {
    readPath,
    write: (read) => {
      const [found, statistics] = [read('day', readPath), readStatistics(read, '30d')];
      if (found === null || statistics === null) return null;
      const { day } = found;
      if (day.coverage.expectedRoundCount === 0) return 'none';
      return writeFile(read, 'half-hours', halfHoursTable([day], findKnown(statistics, read)));
    },
  };
}

/** @returns a range, seven days unless one is requested; null for an unknown one. */
function choose<Range extends string>(ranges: readonly Range[], requested = '7d'): Range | null {
  return ranges.find((one) => one === requested) ?? null;
}

/**
 * The first column of each table is a date, or a time.
 *
 * @param whose said in the image behind its source.
 */
function writeFile<Row>(read: ReadBody, what: string, table: DataRows<Row>, whose = ''): TableFile {
  const wheel = read('status', statusPath)?.installationId ?? 'wheel';
  const dates = [table.rows[0], table.rows.at(-1)].flatMap((row) =>
    row === undefined ? [] : [String(table.columns[0]?.value(row)).slice(0, 10)],
  );
  const span = [...new Set(dates)].join('-to-');
  const name = [wheel, what, ...(span === '' ? [] : [span])].join('-').replace(/[^\w.-]/g, '_');
  return { name, csv: writeCsv(table), draw: (source) => writeImage(table, `${source}${whose}`) };
}

/**
 * Finds a table as a file.
 *
 * @param name one of {@link tableNames}.
 */
export function findTable(
  { findCurrent, keep, createReader, following }: PageReads,
  name: string,
  query: string,
): ExplorerPage | Refusal {
  const [kind = '', extension] = name.split('.');
  const { parameters, find } = tableKinds[kind] as TableKind;
  const values = parseExactQuery(new URLSearchParams(query), parameters);
  const table = values === null ? 'invalid_query' : find(Object.fromEntries(values));
  if (typeof table === 'string') return table;
  const { readPath, write } = table;
  const key = `table ${name}?${query}`;
  const current = findCurrent(key);
  if (current !== null) return { current };
  return {
    current,
    paths: readPath === undefined ? [] : [readPath],
    render: (known) => {
      const read = createReader(known);
      const file = write(read);
      if (file === null) return createHttpError('database_unavailable', retryAfterSeconds);
      if (file === 'none') return createHttpError('not_found');
      const isImage = extension === 'svg';
      const text = isImage ? file.draw(nameSource(read, following()?.target ?? null)) : file.csv;
      if (text === null) return createHttpError('not_found');
      const bytes = Buffer.from(text);
      const own: Header[] = isImage
        ? [['Content-Security-Policy', "default-src 'none'"]]
        : [['Content-Disposition', `attachment; filename="${file.name}.csv"`]];
      if (file.next !== undefined) own.push(['Link', `<${file.next}>; rel="next"`]);
      const contentType = isImage ? 'image/svg+xml' : 'text/csv; charset=utf-8; header=present';
      const response = prepareDocument(bytes, { contentType, cacheControl: revalidated, own });
      keep(key, { response, bytes: bytes.length, expiresAtMs: Number.POSITIVE_INFINITY }, known);
      return response;
    },
  };
}

/** What the figures of an image are of, and what of it is not real. */
function nameSource(read: ReadBody, target: PageChain['target'] | null): string {
  const status = read('status', statusPath);
  const unreal = describeUnreal(status, target && { target });
  const wheel = status === null ? '' : ` of ${status.installationId}`;
  return `Mining activity${wheel}${unreal === null ? '' : ` (${unreal.short})`}.`;
}
