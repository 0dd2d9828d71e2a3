import { cacheView } from '../../../actors/caching/cacheView.ts';
import { createHttpError } from '../../routes/errors.ts';
import { parsePathValue, parseQuery } from '../../routes/parameters.ts';
import type { ReadResult, ReadRoute } from '../../routes/route.ts';
import type { PendingReads, ReadBody } from './pendingReads.ts';
import type { PreparedResponse } from './preparedResponse.ts';
import type { Exchange } from './responseWriter.ts';
import { type Answer, type AnswerDependencies, createPreparation } from './routeAnswers.ts';

export interface ReadAnswerDependencies extends AnswerDependencies {
  readonly reads: PendingReads;
}

/** Answers that are kept until their inputs change: enough for what many clients poll, and at most about two megabytes of a route. */
const keptMax = 16;

/** Answers a route whose body is read for the request, from memory or from the database. */
export function createReadAnswer(route: ReadRoute, dependencies: ReadAnswerDependencies): Answer {
  const { sources, transport, writer, guard, metrics, reads } = dependencies;
  const prepare = createPreparation(route, metrics);
  const { inputs, unavailable: replace } = route;
  const findKept =
    inputs === undefined
      ? () => null
      : cacheView({
          inputs: () => inputs(sources.views),
          compute: () => new Map<string, PreparedResponse>(),
        });

  function findAnswers(): Map<string, PreparedResponse> | null {
    try {
      return findKept();
    } catch {
      return null; // The read fails, too, and says why.
    }
  }

  /** @returns the route's `unavailable` body for a failed read; throws the error if the route has none. */
  function replaceFailed(error: unknown, exchange: Exchange): ReadBody {
    if (replace === undefined) throw error;
    guard.note(exchange, error);
    return { body: replace(sources.views) };
  }

  function prepareFound({ body, cacheControl }: ReadBody): PreparedResponse {
    return prepare(body, { cacheControl: cacheControl ?? route.cacheControl, isSingle: true });
  }

  const hasPathValue = route.pathParameter !== null;
  const pathError = route.pathParameter?.error ?? 'not_found';
  return (exchange, request) => {
    const pathValue = hasPathValue ? parsePathValue(route, request.getParameter(0)) : '';
    if (pathValue === null) return writer.writeError(exchange, createHttpError(pathError));
    const search = transport.query(request);
    const key = `${pathValue}?${search}`;
    const kept = findAnswers();
    const known = kept?.get(key);
    if (known !== undefined) return writer.send(exchange, known);
    const parameters = parseQuery(route, search);
    if (parameters === null) return writer.writeError(exchange, createHttpError('invalid_query'));
    let inMemory: ReadResult<unknown> | null = null;
    const read = (signal: AbortSignal) => {
      try {
        const found = route.read(sources, { pathValue, parameters, signal });
        if (!(found instanceof Promise)) inMemory = found;
        return found;
      } catch (error) {
        return replaceFailed(error, exchange);
      }
    };
    const prepareChecked = (found: ReadBody) => {
      try {
        const prepared = prepareFound(found);
        if (found === inMemory && kept !== null && kept.size < keptMax) kept.set(key, prepared);
        return prepared;
      } catch (error) {
        return prepareFound(replaceFailed(error, exchange));
      }
    };
    reads.run(exchange, [read], ([found]) => writer.send(exchange, prepareChecked(found as ReadBody)));
  };
}
