import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Readiness } from '../../actors/views/readiness.ts';
import { type Listener, listenOn } from './listener.ts';
import { App } from './uws.ts';

export interface OperatorServerOptions {
  readonly registry: Registry;
  readonly readiness: () => Readiness;
  readonly logger: Logger;
}

const jsonType = 'application/json';

/** The operators' port: metrics, and whether the process is alive and ready. */
export function createOperatorServer({ registry, readiness, logger }: OperatorServerOptions): Listener {
  const app = App();

  function send(response: HttpResponse, status: string, contentType: string, body: string) {
    response.cork(() => {
      response
        .writeStatus(status)
        .writeHeader('Content-Type', contentType)
        .writeHeader('Cache-Control', 'no-store');
      response.end(body);
    });
  }

  app.get('/metrics', (response: HttpResponse, _request: HttpRequest) => {
    let isAborted = false;
    response.onAborted(() => {
      isAborted = true;
    });
    registry.metrics().then(
      (text) => {
        if (!isAborted) send(response, '200 OK', registry.contentType, text);
      },
      (error: unknown) => {
        logger.error({ err: error }, 'metrics could not be collected');
        if (!isAborted) send(response, '500 Internal Server Error', jsonType, '{"error":"internal_error"}');
      },
    );
  });
  app.get('/healthz', (response) => send(response, '200 OK', jsonType, '{"status":"alive"}'));
  app.get('/readyz', (response) => {
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

  return listenOn(app, { onClose: () => undefined });
}
