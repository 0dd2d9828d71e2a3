import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { createRequire } from 'node:module';
import type { HeaderBlock, LeadingHeaders } from './headerBlock.ts';
import { chooseUwsBuild, type Uws, uwsPackages } from './uwsBuild.ts';

// Loaded with require, since imports of the native addon and of the fallback have different shapes.
const require = createRequire(import.meta.url);
// The last package is the only one with a substitute.
const packages = process.env.UWS_USE_FALLBACK === undefined ? uwsPackages : uwsPackages.slice(-1);
const { uws, packageName, implementation } = chooseUwsBuild((name) => require(name) as Uws, packages);

export const { us_listen_socket_close: closeListenSocket, us_socket_local_port: portOfSocket } = uws;

/** The package that the running build of uWebSockets.js came from. */
export const uwsPackage = packageName;

/**
 * Which implementation of uWebSockets.js runs: the native addon, or the package's JavaScript fallback (another
 * Node version or platform, or UWS_USE_FALLBACK=1), which lacks what this file adds.
 */
export function detectImplementation(): 'native' | 'fallback' {
  return implementation;
}

export function App(): TemplatedApp {
  uws._cfg?.('silent');
  const app = uws.App();
  if (detectImplementation() === 'fallback') routeByPath(app as unknown as FallbackApp);
  return app;
}

interface FallbackApp {
  readonly httpContext: { readonly router: { route(method: string, url: string): boolean } };
}

/** The fallback routes by the whole target: with a query string, or in absolute form, it would find no route. */
function routeByPath({ httpContext: { router } }: FallbackApp) {
  const route = router.route.bind(router);
  router.route = (method, url) => route(method, extractPath(url));
}

/** The path of a request target, which may be in absolute form: `http://host/path?query` (RFC 9112, 3.2.2). */
function extractPath(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?]*/i, '').split('?', 1)[0] as string;
  return path === '' ? '/' : path;
}

export interface Transport {
  path(request: HttpRequest): string;
  /** Raw query string without its question mark; empty when there is none. */
  query(request: HttpRequest): string;
  /** Calls back for every line of the headers, in order. */
  forEachHeader(request: HttpRequest, note: (lowerCaseName: string, value: string) => void): void;
  remoteAddress(response: HttpResponse): string;
  /** 4 or 16 bytes of the peer's address; null where only text is known. */
  remoteAddressBytes(response: HttpResponse): ArrayBuffer | null;
  /** Prepared headers with the value of their last one, which has no line break, and further ones behind it. */
  writeLastHeader(
    response: HttpResponse,
    leading: LeadingHeaders,
    value: string,
    behind: HeaderBlock | null,
  ): void;
  /**
   * Sends a body, or the rest of one of `bytes`, as far as the connection takes it.
   *
   * @returns whether that was all; if not, the rest follows once `onWritable` is called.
   */
  tryEnd(response: HttpResponse, body: Buffer, bytes: number): boolean;
  /** Ends an answer that announces a length and carries no body: HEAD, and 304 without a length. */
  endWithoutBody(response: HttpResponse, contentLength: number | null): void;
}

const native: Transport = {
  path: (request) => request.getUrl(),
  query: (request) => request.getQuery() ?? '',
  forEachHeader: (request, note) => request.forEach(note),
  remoteAddress: (response) => Buffer.from(response.getRemoteAddressAsText()).toString('latin1'),
  remoteAddressBytes: (response) => response.getRemoteAddress(),
  // One call into the addon costs more than joining the lines, and it writes names and values as they are.
  writeLastHeader: (response, { bytes }, value, behind) =>
    response.writeHeader(bytes, behind === null ? value : value + behind.following),
  tryEnd: (response, body, bytes) => response.tryEnd(body, bytes)[1],
  endWithoutBody: (response, contentLength) => {
    // Given the length as an argument, the addon would wait for a body, and the connection would hang.
    if (contentLength !== null) response.writeHeader('Content-Length', String(contentLength));
    response.endWithoutBody();
  },
};

/** Node's own request and response, inside the fallback's objects. */
interface FallbackRequest {
  readonly request: {
    readonly url: string;
    /** Names and values by turns. */
    readonly rawHeaders: readonly string[];
  };
}
interface FallbackResponse {
  readonly response: { readonly socket: { readonly remoteAddress?: string } | null };
}

const fallback: Transport = {
  path: (request) => extractPath(readUrl(request)),
  query: (request) => readUrl(request).split('?').slice(1).join('?'),
  forEachHeader: (request, note) => {
    const { rawHeaders } = (request as unknown as FallbackRequest).request;
    for (let index = 0; index + 1 < rawHeaders.length; index += 2)
      note((rawHeaders[index] as string).toLowerCase(), rawHeaders[index + 1] as string);
  },
  remoteAddress: (response) =>
    (response as unknown as FallbackResponse).response.socket?.remoteAddress ?? '0.0.0.0',
  remoteAddressBytes: () => null,
  writeLastHeader: (response, { headers, lastName }, value, behind) => {
    for (const [name, text] of headers) response.writeHeader(name, text);
    response.writeHeader(lastName, value);
    for (const [name, text] of behind?.headers ?? []) response.writeHeader(name, text);
  },
  tryEnd: (response, body) => {
    // Node's own server stops reading requests while a client does not read responses.
    response.end(body);
    return true;
  },
  endWithoutBody: (response, contentLength) => {
    if (contentLength !== null) response.writeHeader('Content-Length', String(contentLength));
    response.end();
  },
};

function readUrl(request: HttpRequest): string {
  return (request as unknown as FallbackRequest).request.url;
}

export function transport(): Transport {
  return detectImplementation() === 'native' ? native : fallback;
}
