import type { HttpRequest } from 'uWebSockets.js';
import { createHttpError } from '../routes/errors.ts';
import type { ReadAnswerDependencies } from './answers/readAnswer.ts';
import type { Exchange } from './answers/responseWriter.ts';
import type { Mount } from './mount.ts';
import { type ExplorerPages, ownerPaths, sharedPaths } from './pages/explorerPages.ts';
import type { Guarded } from './requestRefusals.ts';

const ownerPageGuarded: Guarded = { rateClass: 'publicHeavy', query: 'ignored', canAnswerWithoutViews: true };

interface MountedExplorer extends Pick<ReadAnswerDependencies, 'transport' | 'writer' | 'sender' | 'reads'> {
  readonly pages: ExplorerPages;
}

/** Mounts the pages of the explorer, and their files. */
export function mountExplorer(
  mount: Mount,
  { pages, transport, writer, sender, reads }: MountedExplorer,
): void {
  function answerPage(exchange: Exchange, request: HttpRequest) {
    const page = pages.find(transport.path(request), transport.query(request));
    if (page.current !== null) return sender.sendConditionally(exchange, page.current);
    reads.run(exchange, page.read, ({ body }) => sender.sendConditionally(exchange, page.render(body)));
  }
  for (const path of sharedPaths) mount(path, null, answerPage);
  for (const path of ownerPaths) mount(path, ownerPageGuarded, answerPage);
  mount('/explorer/:file', null, (exchange, request) => {
    const file = pages.file(request.getParameter(0) ?? '');
    if (file === null) writer.writeError(exchange, createHttpError('not_found'));
    else sender.sendConditionally(exchange, file);
  });
}
