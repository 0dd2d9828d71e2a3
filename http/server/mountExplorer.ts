import type { HttpRequest } from 'uWebSockets.js';
import { createHttpError } from '../routes/errors.ts';
import type { ReadAnswerDependencies } from './answers/readAnswer.ts';
import type { Exchange } from './answers/responseWriter.ts';
import { type Mount, unknownRoute } from './mount.ts';
import { findTable, tableNames } from './pages/csvFiles.ts';
import { loadExplorerBuild } from './pages/explorerBuild.ts';
import { type ExplorerPages, recordPaths, sharedPaths } from './pages/explorerPages.ts';
import type { ExplorerPage, PageReads } from './pages/pageReads.ts';
import type { Guarded } from './requestRefusals.ts';

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

const heavyGuarded: Guarded = { rateClass: 'publicHeavy', query: 'ignored', canAnswerWithoutViews: true };

interface MountedExplorer extends Pick<ReadAnswerDependencies, 'transport' | 'writer' | 'reads'> {
  readonly pages: ExplorerPages;
  readonly pageReads: PageReads;
}

/** Mounts the pages of the explorer and their files. Mounted last, since it answers every other path. */
export function mountExplorer(
  mount: Mount,
  { pages, pageReads, transport, writer, reads }: MountedExplorer,
): void {
  function send(exchange: Exchange, page: ExplorerPage) {
    if (page.current !== null) return writer.sendConditionally(exchange, page.current);
    reads.run(exchange, page.read, ({ body }) => writer.sendConditionally(exchange, page.render(body)));
  }
  const refuse = (exchange: Exchange, code: 'not_found' | 'invalid_query') =>
    writer.writeError(exchange, createHttpError(code));
  const answerPage = (exchange: Exchange, request: HttpRequest) =>
    send(exchange, pages.find(transport.path(request), transport.query(request)));
  for (const path of sharedPaths) mount(path, null, answerPage);
  for (const path of recordPaths) mount(path, heavyGuarded, answerPage);
  for (const name of tableNames)
    mount(nameTable(name), heavyGuarded, (exchange, request) => {
      const found = findTable(pageReads, name, transport.query(request));
      if (typeof found === 'string') refuse(exchange, found);
      else send(exchange, found);
    });
  mount(unknownTable, null, (exchange) => refuse(exchange, 'not_found'));
  mount('/explorer/:file', null, (exchange, request) => {
    const file = loadExplorerBuild().responses.get(request.getParameter(0) ?? '');
    if (file === undefined) refuse(exchange, 'not_found');
    else writer.sendConditionally(exchange, file);
  });
  const answerUnknown = (exchange: Exchange) => {
    // A browser gets a page, a program an error that it can read.
    if (exchange.isForPeople && exchange.headers.accept.includes('text/html'))
      send(exchange, pages.missing());
    else refuse(exchange, 'not_found');
  };
  mount(unknownRoute, null, answerUnknown, '/*');
}
