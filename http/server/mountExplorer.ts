import type { HttpRequest } from 'uWebSockets.js';
import { createHttpError } from '../routes/errors.ts';
import type { ReadAnswerDependencies } from './answers/readAnswer.ts';
import type { Exchange } from './answers/responseWriter.ts';
import { type Mount, unknownRoute } from './mount.ts';
import { findTable, tableNames } from './pages/csvFiles.ts';
import { loadExplorerBuild } from './pages/explorerBuild.ts';
import { type ExplorerPages, recordPaths, sharedPaths } from './pages/explorerPages.ts';
import type { ExplorerPage, PageReads } from './pages/pageReads.ts';
import type { Guarded, RequestRefusals } from './requestRefusals.ts';

const nameTable = (name: string) => `/tables/${name}`;
const unknownTable = nameTable(':name');

/** Names of handlers whose answers people read. */
const peoplePaths: ReadonlySet<string> = new Set([
  ...sharedPaths,
  ...recordPaths,
  ...tableNames.map(nameTable),
  unknownTable,
  unknownRoute,
]);

/** Whether a handler answers with a page or a file for people, by its name. */
export function isForPeople(name: string): boolean {
  return peoplePaths.has(name) || /^\/docs(?:\/[a-z]+)?$/.test(name);
}

/** Reads of pages, the event stream, and large documents: a request of 70 bytes fetches more than a megabyte if it refuses compression. */
export const heavyGuarded: Guarded = {
  rateClass: 'publicHeavy',
  query: 'ignored',
  canAnswerWithoutViews: true,
};

interface MountedExplorer extends Pick<ReadAnswerDependencies, 'transport' | 'writer' | 'reads'> {
  readonly refusals: RequestRefusals;
  readonly pages: ExplorerPages;
  readonly pageReads: PageReads;
}

/** Mounts the pages of the explorer and their files. Mounted last, since it answers every other path. */
export function mountExplorer(
  mount: Mount,
  { pages, pageReads, transport, writer, reads, refusals }: MountedExplorer,
): void {
  /**
   * Sends a page or a file. Each list or record that it reads counts as a request of that route.
   *
   * @param counted how many of them have been counted.
   */
  function send(exchange: Exchange, page: ExplorerPage, counted: 0 | 1) {
    if (page.current !== null) return writer.sendConditionally(exchange, page.current);
    const { paths, render } = page;
    for (let index: number = counted; index < paths.length; index++) {
      const refusal = refusals.limit(exchange, heavyGuarded.rateClass);
      if (refusal !== null) return writer.writeError(exchange, refusal);
    }
    const news = pageReads.news();
    const toRead = (path: string) => (signal: AbortSignal) => pageReads.readLater(path, signal);
    reads.run(exchange, paths.map(toRead), (found) => {
      const bodies = new Map(found.map(({ body }, index) => [paths[index] as string, body]));
      const rendered = render({ bodies, news });
      if ('code' in rendered) writer.writeError(exchange, rendered);
      else writer.sendConditionally(exchange, rendered);
    });
  }
  const refuse = (exchange: Exchange, code: 'not_found' | 'invalid_query') =>
    writer.writeError(exchange, createHttpError(code));
  const answerWith = (counted: 0 | 1) => (exchange: Exchange, request: HttpRequest) =>
    send(exchange, pages.find(transport.path(request), transport.query(request)), counted);
  for (const path of sharedPaths) mount(path, null, answerWith(0));
  for (const path of recordPaths) mount(path, heavyGuarded, answerWith(1));
  for (const name of tableNames)
    mount(nameTable(name), heavyGuarded, (exchange, request) => {
      const found = findTable(pageReads, name, transport.query(request));
      if (typeof found === 'string') refuse(exchange, found);
      else send(exchange, found, 1);
    });
  mount(unknownTable, null, (exchange) => refuse(exchange, 'not_found'));
  mount('/explorer/:file', null, (exchange, request) => {
    const file = loadExplorerBuild().responses.get(request.getParameter(0) ?? '');
    if (file === undefined) refuse(exchange, 'not_found');
    else writer.sendConditionally(exchange, file);
  });
  const answerUnknown = (exchange: Exchange, request: HttpRequest) => {
    // A browser gets a page, a program an error that it can read.
    if (exchange.isForPeople && exchange.headers.accept.includes('text/html'))
      send(exchange, pages.missing(transport.path(request)), 0);
    else refuse(exchange, 'not_found');
  };
  mount(unknownRoute, null, answerUnknown, '/*');
}
