import type { ReadRoute } from '../../routes/route.ts';
import type { PendingReads, ReadBody } from './pendingReads.ts';
import type { PreparedResponse } from './preparedResponse.ts';
import type { Exchange } from './responseWriter.ts';
import {
  type Answer,
  type AnswerDependencies,
  createPathError,
  createPreparation,
  parsePathValue,
} from './routeAnswers.ts';

export interface ReadAnswerDependencies extends AnswerDependencies {
  readonly reads: PendingReads;
}

/** Answers a route whose body is read for each request, from memory or from the database. */
export function createReadAnswer(route: ReadRoute, dependencies: ReadAnswerDependencies): Answer {
  const { sources, transport, writer, sender, guard, metrics, reads } = dependencies;
  const prepare = createPreparation(route, metrics);

  /** @returns the route's `unavailable` body for a failed read; throws the error if the route has none. */
  function replaceFailed(error: unknown, exchange: Exchange): ReadBody {
    if (route.unavailable === null) throw error;
    guard.note(exchange, error);
    return { body: route.unavailable(sources.views) };
  }

  function prepareFound({ body, cacheControl }: ReadBody): PreparedResponse {
    return prepare(body, {
      tag: null,
      cacheControl: cacheControl ?? route.cacheControl,
      own: [],
      isSingle: true,
    });
  }

  function prepareChecked(found: ReadBody, exchange: Exchange): PreparedResponse {
    try {
      return prepareFound(found);
    } catch (error) {
      return prepareFound(replaceFailed(error, exchange));
    }
  }

  return (exchange, request) => {
    const pathValue = parsePathValue(route, request);
    if (pathValue === null) return writer.writeError(exchange, createPathError(route));
    const query = new URLSearchParams(transport.query(request));
    const read = (signal: AbortSignal) => {
      try {
        return route.read(sources, { pathValue, query, signal });
      } catch (error) {
        return replaceFailed(error, exchange);
      }
    };
    reads.run(exchange, read, (found) => sender.send(exchange, prepareChecked(found, exchange)));
  };
}
