import { type EventsOptions, type StreamedEvent, streamEvents } from './events.ts';
import { type Page, type PagedPath, readPages } from './pages.ts';
import { type PollOptions, poll } from './poll.ts';
import {
  type Body,
  type ClientOptions,
  createRequester,
  type Parameters,
  type Path,
  type RequestOptions,
} from './request.ts';

/** Parameters and options of a call. Parameters may be left out if the route requires none. */
type Rest<Given, Options> =
  Record<never, never> extends Given
    ? [parameters?: Given, options?: Options]
    : [parameters: Given, options?: Options];

/** Reads a Mining Activity Read Service. Decimals are bigints in all that it returns. */
export interface Client {
  /**
   * The body of a route, by its path as the contract writes it: `get('/v2/public/stats', { range: '7d' })`. What is not known now is a body with
   * `status: 'unavailable'`, which the type makes one look at.
   *
   * @throws ServiceError
   */
  get<At extends Path>(path: At, ...rest: Rest<Parameters<At>, RequestOptions>): Promise<Body<At>>;
  /**
   * The body of a route, and each that differs from the one before, until the iteration ends.
   *
   * @throws ServiceError for what does not pass.
   */
  poll<At extends Path>(
    path: At,
    ...rest: Rest<Parameters<At>, PollOptions>
  ): AsyncGenerator<Body<At>, never>;
  /**
   * All pages of a list.
   *
   * @throws ServiceError
   */
  pages<At extends PagedPath>(
    path: At,
    parameters: Omit<Parameters<At>, 'cursor'>,
    options?: RequestOptions,
  ): AsyncGenerator<Page<Body<At>>, void>;
  /**
   * Events as they become visible, each once, over any number of connections, until the iteration ends.
   *
   * @throws ServiceError for what does not pass.
   */
  events(options?: EventsOptions): AsyncGenerator<StreamedEvent, never>;
}

export function createClient(options: ClientOptions): Client {
  const requester = createRequester(options);
  return {
    get: (path, ...[parameters = {}, asked = {}]) => requester.get(path, parameters, asked),
    poll: (path, ...[parameters = {}, asked = {}]) => poll(requester, path, parameters, asked),
    pages: (path, parameters, asked = {}) => readPages(requester, path, parameters, asked),
    events: (asked = {}) => streamEvents(requester, asked),
  };
}
