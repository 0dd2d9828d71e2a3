import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { isIP } from 'node:net';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Readiness } from '../../actors/views/readiness.ts';
import { type Listener, listenOn } from './engine/listener.ts';
import { sendBody } from './engine/sendBody.ts';
import { App, transport as selectTransport } from './engine/uws.ts';
import { readRequestHeaders } from './requests/requestHeaders.ts';

export interface OperatorServerOptions {
  readonly registry: Registry;
  readonly readiness: () => Readiness;
  /** What the doctor asks a running process for; left out where there is nothing to ask. */
  readonly diagnose?: (isQuick: boolean) => Promise<unknown>;
  readonly logger: Logger;
  /** Host names with a dot by which it may be asked. */
  readonly names: readonly string[];
}

const jsonType = 'application/json';

/** The operators' port: metrics, and whether the process is alive and ready. */
export function createOperatorServer({
  registry,
  readiness,
  diagnose,
  logger,
  names,
}: OperatorServerOptions): Listener {
  const app = App();
  const transport = selectTransport();
  const isKnownHost = createHostCheck(names);
  /** Whoever asks while metrics are collected gets the same ones. */
  let collecting: Promise<string> | null = null;

  function send(response: HttpResponse, status: string, contentType: string, body: string) {
    response.cork(() => {
      response
        .writeStatus(status)
        .writeHeader('Content-Type', contentType)
        .writeHeader('Cache-Control', 'no-store')
        .writeHeader('X-Content-Type-Options', 'nosniff');
      sendBody(transport, response, Buffer.from(body), () => undefined);
    });
  }

  function collect(): Promise<string> {
    collecting ??= registry.metrics().finally(() => {
      collecting = null;
    });
    return collecting;
  }

  function get(path: string, answer: (response: HttpResponse, query: string) => void) {
    app.get(path, (response: HttpResponse, request: HttpRequest) => {
      const { host, origin, isAmbiguous } = readRequestHeaders(request, transport);
      if (isAmbiguous) response.close();
      else if (isOfWebsite(origin, request.getHeader('sec-fetch-site')))
        send(response, '403 Forbidden', jsonType, '{"error":"other_origin"}');
      else if (isKnownHost(host)) answer(response, transport.query(request));
      else send(response, '421 Misdirected Request', jsonType, '{"error":"unknown_host"}');
    });
  }

  function answerLater(response: HttpResponse, contentType: string, what: string, body: Promise<string>) {
    let isAborted = false;
    response.onAborted(() => {
      isAborted = true;
    });
    body.then(
      (text) => {
        if (!isAborted) send(response, '200 OK', contentType, text);
      },
      (error: unknown) => {
        logger.error({ err: error }, what);
        if (!isAborted) send(response, '500 Internal Server Error', jsonType, '{"error":"internal_error"}');
      },
    );
  }

  get('/metrics', (response) =>
    answerLater(response, registry.contentType, 'metrics could not be collected', collect()),
  );
  if (diagnose !== undefined) {
    const isQuickQuery = (query: string) => new URLSearchParams(query).has('quick');
    // It reads what is stored: one of each kind at a time, and whoever asks meanwhile gets the same.
    const diagnosing = new Map<boolean, Promise<string>>();
    const examine = (isQuick: boolean): Promise<string> => {
      const running = diagnosing.get(isQuick);
      if (running !== undefined) return running;
      const body = diagnose(isQuick)
        .then((found) => JSON.stringify(found))
        .finally(() => diagnosing.delete(isQuick));
      diagnosing.set(isQuick, body);
      return body;
    };
    get('/diagnosis', (response, query) => {
      answerLater(response, jsonType, 'what is stored could not be examined', examine(isQuickQuery(query)));
    });
  }
  get('/healthz', (response) => send(response, '200 OK', jsonType, '{"status":"alive"}'));
  get('/readyz', (response) => {
    const { isReady, detail } = readiness();
    const status = isReady ? '200 OK' : '503 Service Unavailable';
    send(
      response,
      status,
      jsonType,
      `${JSON.stringify({ status: isReady ? 'ready' : 'waiting', ...detail })}\n`,
    );
  });
  app.any('/*', (response) => send(response, '404 Not Found', jsonType, '{"error":"not_found"}'));

  return listenOn(app);
}

/** A browser that asks for the page of a website, which has no business here; a bookmark, and programs, say neither. */
function isOfWebsite(origin: string, fetchSite: string): boolean {
  return origin !== '' || !['', 'none', 'same-origin'].includes(fetchSite);
}

/**
 * By `Host`: addresses, names without a dot (of a container or of this machine), and those that are configured. A website cannot have any of
 * them, so it cannot read this port through a browser that reaches it.
 */
function createHostCheck(names: readonly string[]): (host: string) => boolean {
  const configured = new Set(names.map((name) => name.toLowerCase()));
  return (host) => {
    const name = host
      .replace(/:\d+$/, '')
      .replace(/^\[|\]$/g, '')
      .toLowerCase();
    return !name.includes('.') || isIP(name) !== 0 || configured.has(name);
  };
}
