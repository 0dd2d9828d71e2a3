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

/** Reads a Mining Activity Read Service. Returns decimals as bigints. */
export interface Client {
  /**
   * Reads the body of a route, by its path in the contract: `get('/v2/public/stats', { range: '7d' })`. If the body is not known now, it has
   * `status: 'unavailable'`; the type asks for this case.
   *
   * @throws ServiceError
   */
  get<At extends Path>(path: At, ...rest: Rest<Parameters<At>, RequestOptions>): Promise<Body<At>>;
  /**
   * Yields the body of a route, then every changed body, until the iteration ends.
   *
   * @throws ServiceError for an error that is not temporary.
   */
  poll<At extends Path>(
    path: At,
    ...rest: Rest<Parameters<At>, PollOptions>
  ): AsyncGenerator<Body<At>, never>;
  /**
   * Yields all pages of a list.
   *
   * @throws ServiceError
   */
  pages<At extends PagedPath>(
    path: At,
    parameters: Omit<Parameters<At>, 'cursor'>,
    options?: RequestOptions,
  ): AsyncGenerator<Page<Body<At>>, void>;
  /**
   * Yields each event once, when it becomes visible, over any number of connections, until the iteration ends.
   *
   * @throws ServiceError for an error that is not temporary.
   */
  events(options?: EventsOptions): AsyncGenerator<StreamedEvent, never>;
}

/** @throws TypeError if `baseUrl` is not an address with `http://` or `https://`. */
export function createClient(options: ClientOptions): Client {
  const requester = createRequester(options);
  return {
    get: (path, ...[parameters = {}, asked = {}]) => requester.get(path, parameters, asked),
    poll: (path, ...[parameters = {}, asked = {}]) => poll(requester, path, parameters, asked),
    pages: (path, parameters, asked = {}) => readPages(requester, path, parameters, asked),
    events: (asked = {}) => streamEvents(requester, asked),
  };
}
