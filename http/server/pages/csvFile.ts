import type { ReadBody } from '../../explorer/page.ts';
import { statusPath } from '../../explorer/resources.ts';
import { type DataRows, writeCsv } from '../../explorer/tables/dataTable.ts';
import { parseExactQuery } from '../../routes/parseExactQuery.ts';
import type { RateClass } from '../../routes/rateClasses.ts';
import { routes } from '../../routes/routes.ts';

/** A table of the explorer as a file. */
export interface CsvTable {
  /** Names the table in caches. */
  readonly key: string;
  /** Paths of the routes whose bodies must be read for it, because no view says whether they are current. */
  readonly readPaths: readonly string[];
  /** Path of a page of the list that it shows, of the first one for null; null for a table that is not of a list. */
  readonly pagePath: ((cursor: string | null) => string) | null;
  /**
   * @param pages bodies of the list, newest first.
   * @returns null if what it shows cannot be read at the moment, and `none` if there is no such table.
   */
  write(read: ReadBody, pages: readonly unknown[]): CsvFile | 'none' | null;
}

/** Parameters of a file with their values; null for any value. */
type Parameters = Readonly<Record<string, readonly string[] | null>>;

export interface TableFile {
  readonly rateClass: RateClass;
  /** Whether each parameter of a query, and its value, is known. */
  readonly isKnown: (query: string) => boolean;
  /** @returns the table of a query; null for an unknown one. */
  readonly find: (query: string) => CsvTable | null;
}

export interface CsvFile {
  /** With the wheel and the dates of its rows. */
  readonly name: string;
  readonly text: string;
  /** Address of the file with the entries before these, if there are any. */
  readonly next?: string;
}

/**
 * @param path of the route whose body the table shows.
 * @param parameters null for the route's own, which it checks itself.
 */
export function ofRoute(path: string, parameters: Parameters | null, find: TableFile['find']): TableFile {
  const route = routes.find((one) => one.path === path);
  if (route === undefined) throw new Error(`there is no route ${path}`);
  const isKnown = (query: string) => {
    if (parameters === null) return true;
    const found = parseExactQuery(new URLSearchParams(query), Object.keys(parameters));
    return found !== null && [...found].every(([name, value]) => parameters[name]?.includes(value) ?? true);
  };
  return { rateClass: route.rateClass, isKnown, find };
}

/** The first column of each table is a date, or a time. */
export function writeFile<Row>(read: ReadBody, what: string, table: DataRows<Row>): CsvFile {
  const wheel = read('status', statusPath)?.installationId ?? 'wheel';
  const dates = [table.rows[0], table.rows.at(-1)].flatMap((row) =>
    row === undefined ? [] : [String(table.columns[0]?.value(row)).slice(0, 10)],
  );
  const span = [...new Set(dates)].join('-to-');
  const name = [wheel, what, ...(span === '' ? [] : [span])].join('-').replace(/[^\w.-]/g, '_');
  return { name: `${name}.csv`, text: writeCsv(table) };
}
