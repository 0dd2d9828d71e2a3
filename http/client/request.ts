import { type AttemptSettings, attempt } from './attempts.ts';
import { parseDecimals } from './decimals.ts';
import { decimals, type Routes } from './responses.ts';
import { requireOk } from './serviceError.ts';

export interface ClientOptions extends AttemptSettings {
  /** Address of the service, such as `https://miner.example`. */
  readonly baseUrl: string;
  /** Headers of each request, such as `User-Agent`. Browsers refuse to set some headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: `fetch` of the platform. */
  readonly fetch?: typeof fetch;
}

export type Path = keyof Routes;
export type Body<At extends Path> = Routes[At]['body'];

/** Parameters of a route, in its path and its query. */
export type Parameters<At extends Path> = Routes[At]['path'] & Routes[At]['query'];

export interface RequestOptions {
  /** Ends the call with the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface Answer<Result> {
  /** Null if the copy with the given `etag` is current. */
  readonly body: Result | null;
  readonly etag: string | null;
}

export interface Requester {
  readonly options: ClientOptions;
  readonly fetch: typeof fetch;
  url(path: string, parameters?: object): URL;
  once<At extends Path>(
    path: At,
    parameters: object,
    asked: RequestOptions & { readonly etag?: string | null },
  ): Promise<Answer<Body<At>>>;
  /** Repeats the request after temporary failures. */
  get<At extends Path>(path: At, parameters: object, asked: RequestOptions): Promise<Body<At>>;
}

export function createRequester(options: ClientOptions): Requester {
  if (!/^https?:\/\/\S+$/i.test(options.baseUrl))
    throw new TypeError(
      `baseUrl is '${options.baseUrl}': expected the address of a service, such as https://miner.example`,
    );
  const send = options.fetch ?? fetch;

  function url(path: string, parameters: object = {}): URL {
    const rest = new Map(Object.entries(parameters).filter(([, value]) => value !== undefined));
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = rest.get(name);
      // Not a TypeError, which would count as temporary.
      if (value === undefined) throw new Error(`${path}: the parameter ${name} is missing`);
      rest.delete(name);
      return encodeURIComponent(String(value));
    });
    const found = new URL(`${options.baseUrl.replace(/\/+$/, '')}${filled}`);
    for (const [name, value] of rest) found.searchParams.set(name, String(value));
    return found;
  }

  async function once<At extends Path>(
    path: At,
    parameters: object,
    { signal, etag = null }: RequestOptions & { readonly etag?: string | null },
  ): Promise<Answer<Body<At>>> {
    const response = await send(url(path, parameters), {
      headers: { ...options.headers, ...(etag === null ? {} : { 'If-None-Match': etag }) },
      ...(signal && { signal }),
    });
    await requireOk(response);
    if (response.status === 304) return { body: null, etag };
    // The service checks every body against the schema of this type before it sends it.
    const body = parseDecimals(await response.json(), decimals[path]) as Body<At>;
    return { body, etag: response.headers.get('ETag') };
  }

  return {
    options,
    fetch: send,
    url,
    once,
    get: async (path, parameters, { signal }) => {
      const { body } = await attempt(
        () => once(path, parameters, { ...(signal && { signal }) }),
        options,
        signal,
      );
      if (body === null) throw new TypeError(`${path}: 304 to a request without a tag`);
      return body;
    },
  };
}
