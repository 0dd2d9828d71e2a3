import type { HttpRequest } from 'uWebSockets.js';
import { createHttpError } from '../routes/errors.ts';
import type { ReadAnswerDependencies } from './answers/readAnswer.ts';
import type { Exchange } from './answers/responseWriter.ts';
import { type Mount, unknownRoute } from './mount.ts';
import { csvTables } from './pages/csvTables.ts';
import type { ExplorerFiles } from './pages/explorerFiles.ts';
import { type ExplorerPages, recordPaths, sharedPaths } from './pages/explorerPages.ts';
import type { ExplorerPage } from './pages/pageReads.ts';
import type { Guarded } from './requestRefusals.ts';

const nameTable = (name: string) => `/tables/${name}`;
const unknownTable = '/tables/:name';

/** Names of handlers whose answers people read. */
const peoplePaths: ReadonlySet<string> = new Set([
  ...sharedPaths,
  ...recordPaths,
  ...Object.keys(csvTables).map(nameTable),
  unknownTable,
  '/feed.atom',
  unknownRoute,
]);

/** Whether a handler answers with a page or a file for people, by its name. */
export function isForPeople(name: string): boolean {
  return peoplePaths.has(name) || /^\/docs(?:\/[a-z]+)?$/.test(name);
}

const recordGuarded: Guarded = { rateClass: 'publicHeavy', query: 'ignored', canAnswerWithoutViews: true };

/** It writes as much as a list of the feed. */
const feedGuarded: Guarded = { rateClass: 'publicHeavy', query: 'ignored' };

interface MountedExplorer extends Pick<ReadAnswerDependencies, 'transport' | 'writer' | 'sender' | 'reads'> {
  readonly pages: ExplorerPages;
  readonly files: ExplorerFiles;
}

/** Mounts the pages of the explorer and their files. Mounted last, since it answers every other path. */
export function mountExplorer(
  mount: Mount,
  { pages, files, transport, writer, sender, reads }: MountedExplorer,
): void {
  function send(exchange: Exchange, page: ExplorerPage) {
    if (page.current !== null) return sender.sendConditionally(exchange, page.current);
    reads.run(exchange, page.read, ({ body }) => sender.sendConditionally(exchange, page.render(body)));
  }
  const answerPage = (exchange: Exchange, request: HttpRequest) =>
    send(exchange, pages.find(transport.path(request), transport.query(request)));
  for (const path of sharedPaths) mount(path, null, answerPage);
  for (const path of recordPaths) mount(path, recordGuarded, answerPage);
  const sendFound = (exchange: Exchange, page: ExplorerPage | null) => {
    if (page === null) writer.writeError(exchange, createHttpError('not_found'));
    else send(exchange, page);
  };
  for (const [name, { rateClass, isKnown, find }] of Object.entries(csvTables))
    mount(
      nameTable(name),
      { rateClass, query: 'ignored', canAnswerWithoutViews: true },
      (exchange, request) => {
        const query = transport.query(request);
        if (isKnown(query)) sendFound(exchange, files.table(find(query)));
        else writer.writeError(exchange, createHttpError('invalid_query'));
      },
    );
  mount(unknownTable, null, (exchange) => sendFound(exchange, null));
  mount('/explorer/:file', null, (exchange, request) => {
    const file = files.file(request.getParameter(0) ?? '');
    if (file === null) writer.writeError(exchange, createHttpError('not_found'));
    else sender.sendConditionally(exchange, file);
  });
  mount('/feed.atom', feedGuarded, (exchange, request) =>
    sendFound(exchange, files.feed(transport.query(request))),
  );
  mount('/badge.svg', null, (exchange) => send(exchange, files.badge()));
  const answerUnknown = (exchange: Exchange) => {
    // A browser gets a page, a program an error that it can read.
    if (exchange.isForPeople && exchange.headers.accept.includes('text/html'))
      send(exchange, pages.missing());
    else writer.writeError(exchange, createHttpError('not_found'));
  };
  mount(unknownRoute, null, answerUnknown, '/*');
}
