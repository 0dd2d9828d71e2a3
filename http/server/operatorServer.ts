import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { isIP } from 'node:net';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Readiness } from '../../actors/views/views.ts';
import { jsonType } from './answers/preparedResponse.ts';
import { type Listener, listenOn } from './engine/listener.ts';
import { App, selectTransport } from './engine/uws.ts';
import { readRequestHeaders } from './requests/requestHeaders.ts';

interface OperatorServerOptions {
  readonly registry: Registry;
  readonly readiness: () => Readiness;
  /** Examines the stored data for the doctor; missing if nothing is stored. */
  readonly diagnose?: () => Promise<unknown>;
  readonly logger: Logger;
  /** Allowed host names that contain a dot. */
  readonly names: readonly string[];
}

/** The operators' port: metrics, liveness, readiness, and diagnosis. */
export function createOperatorServer(options: OperatorServerOptions): Listener {
  const { registry, readiness, diagnose, logger, names } = options;
  const app = App();
  const transport = selectTransport();
  const isKnownHost = createHostCheck(names);

  function send(response: HttpResponse, status: string, body: string, contentType = jsonType) {
    response.cork(() => {
      response
        .writeStatus(status)
        .writeHeader('Content-Type', contentType)
        .writeHeader('Cache-Control', 'no-store')
        .writeHeader('X-Content-Type-Options', 'nosniff');
      transport.end(response, Buffer.from(body), () => undefined);
    });
  }

  function get(path: string, answer: (response: HttpResponse) => void) {
    app.get(path, (response: HttpResponse, request: HttpRequest) => {
      const { host, origin, isAmbiguous } = readRequestHeaders(request, transport);
      if (isAmbiguous) response.close();
      else if (isOfWebsite(origin, request.getHeader('sec-fetch-site')))
        send(response, '403 Forbidden', '{"error":"other_origin"}');
      else if (isKnownHost(host)) answer(response);
      else send(response, '421 Misdirected Request', '{"error":"unknown_host"}');
    });
  }

  /** Answers with a text that takes a while. Requests that arrive meanwhile share it. */
  function createLateAnswer(contentType: string, failure: string, make: () => Promise<string>) {
    let making: Promise<string> | null = null;
    return (response: HttpResponse) => {
      let isAborted = false;
      response.onAborted(() => {
        isAborted = true;
      });
      making ??= make().finally(() => {
        making = null;
      });
      making.then(
        (text) => {
          if (!isAborted) send(response, '200 OK', text, contentType);
        },
        (error: unknown) => {
          logger.error({ err: error }, failure);
          if (!isAborted) send(response, '500 Internal Server Error', '{"error":"internal_error"}');
        },
      );
    };
  }

  get(
    '/metrics',
    createLateAnswer(registry.contentType, 'metrics could not be collected', () => registry.metrics()),
  );
  if (diagnose !== undefined) {
    // It reads the database, so at most one runs at a time.
    const examine = async () => JSON.stringify(await diagnose());
    get('/diagnosis', createLateAnswer(jsonType, 'what is stored could not be examined', examine));
  }
  get('/healthz', (response) => send(response, '200 OK', '{"status":"alive"}'));
  get('/readyz', (response) => {
    const { isReady, detail } = readiness();
    const body = JSON.stringify({ status: isReady ? 'ready' : 'waiting', ...detail });
    send(response, isReady ? '200 OK' : '503 Service Unavailable', `${body}\n`);
  });
  app.any('/*', (response) => send(response, '404 Not Found', '{"error":"not_found"}'));

  return listenOn(app);
}

/** Whether a browser sends the request for another website's page. Bookmarks and programs send neither header. */
function isOfWebsite(origin: string, fetchSite: string): boolean {
  return origin !== '' || !['', 'none', 'same-origin'].includes(fetchSite);
}

/**
 * Accepts a `Host` that is an address, a name without a dot (a container or this machine), or a configured name. A website has none
 * of these, so it cannot read this port through a browser that reaches it.
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
