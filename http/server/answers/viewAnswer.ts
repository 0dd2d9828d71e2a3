import { memoizeByIdentity } from '../../../actors/caching/memoizeByIdentity.ts';
import { createHttpError } from '../../routes/errors.ts';
import { parseQuery } from '../../routes/parameters.ts';
import type { Parameters, ViewRoute } from '../../routes/route.ts';
import { memoize } from './memoize.ts';
import type { PreparedResponse } from './preparedResponse.ts';
import {
  type Answer,
  type AnswerDependencies,
  createPreparation,
  retryAfterSeconds,
} from './routeAnswers.ts';

/** Queries of a route whose parsed form is cached. */
const queriesMax = 256;

/** The outcome for one view; `prepared` is null if the response is 500. */
interface Attempt {
  readonly prepared: PreparedResponse | null;
  readonly failure: { readonly error: unknown } | null;
}

/** Answers a route from a view in memory. The bytes are prepared once per view. */
export function createViewAnswer(route: ViewRoute, dependencies: AnswerDependencies): Answer {
  const { sources, transport, writer, guard, metrics, clock } = dependencies;
  // Read from the route once: route objects have many shapes, which makes every access at a request slow.
  const { refusal: findRefusal, cacheControl, header, tag } = route;
  const { view: findView, body: toBody, receivedAtMs: findReceivedAtMs, unavailable: replace } = route;
  const isConditional = route.isConditional === true;
  const isQueryRead = typeof route.query !== 'string';
  const prepare = createPreparation(route, metrics);

  function prepareView(view: object): PreparedResponse {
    const body = toBody(view);
    const response = prepare(body, {
      tag: tag?.(body) ?? null,
      cacheControl,
      own: header === undefined ? [] : [[header.name, header.value(view)]],
    });
    const receivedAtMs = findReceivedAtMs?.(view) ?? null;
    if (receivedAtMs !== null) metrics.showed(receivedAtMs, clock.nowMs());
    return response;
  }

  /** Prepares a view, or its replacement if that fails. */
  function attempt(view: object): Attempt {
    try {
      return { prepared: prepareView(view), failure: null };
    } catch (error) {
      return { prepared: prepareReplacement(view), failure: { error } };
    }
  }

  function prepareReplacement(failed: object | null): PreparedResponse | null {
    if (replace === undefined) return null;
    try {
      return prepareView(replace(sources.views, failed));
    } catch {
      return null; // The first error is reported. The two bodies share a part, so it usually explains both.
    }
  }

  // Views are immutable, so the same object gives the same bytes.
  const prepareOnce = memoizeByIdentity(attempt);
  const parse = memoize((query) => parseQuery(route, query), queriesMax);
  const unread = parseQuery(route, '');

  function find(pathValue: string, parameters: Parameters): Attempt {
    let view: object;
    try {
      view = findView(sources.views, pathValue, parameters);
    } catch (error) {
      return { prepared: prepareReplacement(null), failure: { error } };
    }
    return prepareOnce(view);
  }

  return (exchange, request, pathValue) => {
    const parameters = isQueryRead ? parse(transport.query(request)) : unread;
    if (parameters === null) return writer.writeError(exchange, createHttpError('invalid_query'));
    const refused = findRefusal?.(sources.views) ?? null;
    if (refused !== null) return writer.writeError(exchange, createHttpError(refused, retryAfterSeconds));
    const { prepared, failure } = find(pathValue, parameters);
    if (failure !== null) guard.note(exchange, failure.error);
    if (prepared === null) return writer.writeError(exchange, createHttpError('internal_error'));
    if (isConditional) writer.sendConditionally(exchange, prepared);
    else writer.send(exchange, prepared);
  };
}
