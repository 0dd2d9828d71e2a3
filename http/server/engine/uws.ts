import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { createRequire } from 'node:module';
import type { HeaderBlock, LeadingHeaders } from './headerBlock.ts';
import { chooseUwsBuild, oldPackage, type Uws, uwsPackages } from './uwsBuild.ts';

// Loaded with require, since imports of the native addon and of the fallback differ in shape.
const require = createRequire(import.meta.url);
// Only the last package has a substitute.
const packages = process.env.UWS_USE_FALLBACK === undefined ? uwsPackages : uwsPackages.slice(-1);
const { uws, packageName, implementation } = chooseUwsBuild((name) => require(name) as Uws, packages);

export const { us_listen_socket_close: closeListenSocket, us_socket_local_port: portOfSocket } = uws;

/** The package that the running build of uWebSockets.js came from. */
export const uwsPackage = packageName;

/**
 * Which implementation of uWebSockets.js runs: the native addon, or the package's fallback in JavaScript. The fallback runs on
 * Node versions and platforms without an addon, and with UWS_USE_FALLBACK=1. It lacks what this file adds.
 */
export function detectImplementation(): 'native' | 'fallback' {
  return implementation;
}

/**
 * Whether the native engine of older systems runs, which nobody corrects. It closes a connection without an answer, after twelve seconds, if a request
 * is HTTP/1.0 or has a header whose name contains other characters than letters, digits and hyphens.
 */
export const isOldEngine = implementation === 'native' && packageName === oldPackage;

export function App(): TemplatedApp {
  uws._cfg?.('silent');
  const app = uws.App();
  if (detectImplementation() === 'fallback') routeByPath(app as unknown as FallbackApp);
  return app;
}

interface FallbackApp {
  readonly httpContext: { readonly router: { route(method: string, url: string): boolean } };
}

/** The fallback matches routes with the whole target, so it would miss them for a query string or an absolute form. */
function routeByPath({ httpContext: { router } }: FallbackApp) {
  const route = router.route.bind(router);
  router.route = (method, url) => route(method, extractPath(url));
}

/** @returns the path of a request target, which may be in absolute form: `http://host/path?query` (RFC 9112, 3.2.2). */
function extractPath(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?]*/i, '').split('?', 1)[0] as string;
  return path === '' ? '/' : path;
}

export interface Transport {
  path(request: HttpRequest): string;
  /** Raw query string without its question mark; empty without a query. */
  query(request: HttpRequest): string;
  /** Calls back for every header line, in order. */
  forEachHeader(request: HttpRequest, note: (lowerCaseName: string, value: string) => void): void;
  remoteAddress(response: HttpResponse): string;
  /** 4 or 16 bytes of the peer's address; null if only its text is known. */
  remoteAddressBytes(response: HttpResponse): ArrayBuffer | null;
  /** Writes prepared headers, the value of their last header, which has no line break, and the headers behind it. */
  writeLastHeader(
    response: HttpResponse,
    leading: LeadingHeaders,
    value: string,
    behind: HeaderBlock,
    last: HeaderBlock | null,
  ): void;
  /**
   * Sends as much of a body as the connection takes, and the rest as the client reads, so nothing is buffered here. The engine disconnects a
   * client that sends another request meanwhile, so a connection has at most one response in progress.
   *
   * @param onAborted called when the peer disconnects before everything is sent.
   */
  end(response: HttpResponse, body: Buffer, onAborted: () => void): void;
  /** Calls back whenever the connection of a response that is written piece by piece has room again. */
  onRoom(response: HttpResponse, handler: () => void): void;
  /** Ends a response without a body. HEAD announces the length that its body would have; a 304 has none. */
  endWithoutBody(response: HttpResponse, contentLength: number | null): void;
}

const native: Transport = {
  path: (request) => request.getUrl(),
  query: (request) => request.getQuery() ?? '',
  forEachHeader: (request, note) => request.forEach(note),
  remoteAddress: (response) => Buffer.from(response.getRemoteAddressAsText()).toString('latin1'),
  remoteAddressBytes: (response) => response.getRemoteAddress(),
  // One call with joined lines, since a call into the addon costs more than joining. The addon writes names and values unchanged.
  writeLastHeader: (response, { bytes }, value, { following }, last) =>
    response.writeHeader(bytes, value + following + (last === null ? '' : last.following)),
  end: (response, body, onAborted) => {
    if (response.tryEnd(body, body.length)[1]) return;
    response.onAborted(onAborted);
    response.onWritable((offset) => response.tryEnd(body.subarray(offset), body.length)[1]);
  },
  onRoom: (response, handler) =>
    response.onWritable(() => {
      handler();
      return true;
    }),
  endWithoutBody: (response, contentLength) => {
    // With the length as an argument the addon would wait for a body, and the connection would hang.
    if (contentLength !== null) response.writeHeader('Content-Length', String(contentLength));
    response.endWithoutBody();
  },
};

/** Node's own request and response, inside the fallback's objects. */
interface FallbackRequest {
  readonly request: {
    readonly url: string;
    /** Names and values alternate. */
    readonly rawHeaders: readonly string[];
  };
}
interface FallbackResponse {
  readonly response: {
    readonly socket: { readonly remoteAddress?: string } | null;
    on(event: 'drain', handler: () => void): unknown;
  };
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
  writeLastHeader: (response, { headers, lastName }, value, behind, last) => {
    for (const [name, text] of [...headers, [lastName, value] as const, ...behind.headers])
      response.writeHeader(name, text);
    for (const [name, text] of last?.headers ?? []) response.writeHeader(name, text);
  },
  // Node's server reads no further requests while a client does not read responses.
  end: (response, body) => void response.end(body),
  onRoom: (response, handler) => (response as unknown as FallbackResponse).response.on('drain', handler),
  endWithoutBody: (response, contentLength) => {
    if (contentLength !== null) response.writeHeader('Content-Length', String(contentLength));
    response.end();
  },
};

function readUrl(request: HttpRequest): string {
  return (request as unknown as FallbackRequest).request.url;
}

export function selectTransport(): Transport {
  return detectImplementation() === 'native' ? native : fallback;
}
