import { cacheView } from '../../../actors/caching/cacheView.ts';
import { createHttpError } from '../../routes/errors.ts';
import { parseQuery } from '../../routes/parameters.ts';
import type { ReadRoute } from '../../routes/route.ts';
import type { PendingReads, ReadBody } from './pendingReads.ts';
import type { PreparedResponse } from './preparedResponse.ts';
import { type Answer, type AnswerDependencies, createPreparation } from './routeAnswers.ts';

export interface ReadAnswerDependencies extends AnswerDependencies {
  readonly reads: PendingReads;
}

/** Answers that are kept until their inputs change: enough for what many clients poll, and at most about four megabytes of a route. */
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

  function prepareFound({ body, cacheControl }: ReadBody): PreparedResponse {
    return prepare(body, { cacheControl: cacheControl ?? route.cacheControl, isSingle: true });
  }

  return (exchange, request, pathValue) => {
    const search = transport.query(request);
    const key = `${pathValue}?${search}`;
    let kept = findAnswers();
    const known = kept?.get(key);
    if (known !== undefined) return writer.send(exchange, known);
    const parameters = parseQuery(route, search);
    if (parameters === null) return writer.writeError(exchange, createHttpError('invalid_query'));
    /** @returns the route's `unavailable` body for a failed read; throws the error if the route has none. */
    const replaceFailed = (error: unknown): ReadBody => {
      if (replace === undefined) throw error;
      guard.note(exchange, error);
      kept = null;
      return { body: replace(sources.views) };
    };
    const read = (signal: AbortSignal) => {
      try {
        return route.read(sources, { pathValue, parameters, signal });
      } catch (error) {
        return replaceFailed(error);
      }
    };
    const prepareChecked = (found: ReadBody) => {
      try {
        return prepareFound(found);
      } catch (error) {
        return prepareFound(replaceFailed(error));
      }
    };
    reads.run(exchange, [read], ([found]) => {
      const prepared = prepareChecked(found as ReadBody);
      if (kept !== null && kept.size < keptMax) kept.set(key, prepared);
      writer.send(exchange, prepared);
    });
  };
}
