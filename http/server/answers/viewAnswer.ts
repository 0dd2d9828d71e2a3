import { memoizeByIdentity } from '../../../actors/memoizeByIdentity.ts';
import { createHttpError } from '../../routes/errors.ts';
import type { ViewRoute } from '../../routes/route.ts';
import { memoize } from './memoize.ts';
import type { PreparedResponse } from './preparedResponse.ts';
import {
  type Answer,
  type AnswerDependencies,
  createPathError,
  createPreparation,
  parsePathValue,
  retryAfterSeconds,
} from './routeAnswers.ts';

/** Different queries of a route whose parsed form is cached. */
const queriesMax = 256;

/** The outcome for one view: `prepared` is null where the response is 500. */
interface Attempt {
  readonly prepared: PreparedResponse | null;
  readonly failure: { readonly error: unknown } | null;
}

/** Answers from a view in memory: its bytes are prepared once. */
export function createViewAnswer(route: ViewRoute, dependencies: AnswerDependencies): Answer {
  const { sources, transport, writer, sender, guard, metrics, clock } = dependencies;
  // Taken from the route once: its shape is one of many, which would have to be distinguished at each request.
  const { view: findView, refusal: findRefusal, isConditional } = route;
  const isQueryRead = typeof route.query !== 'string';
  const prepare = createPreparation(route, metrics);

  function prepareView(view: object): PreparedResponse {
    // Casts to `never`: what the functions of one entry take and return matches (`defineViewRoute`).
    const body = route.body(view as never);
    const { cacheControl, header } = route;
    const response = prepare(body, {
      tag: route.tag?.(body as never) ?? null,
      cacheControl,
      own: header === null ? [] : [[header.name, header.value(view as never)]],
    });
    const receivedAtMs = route.receivedAtMs?.(view as never) ?? null;
    if (receivedAtMs !== null) metrics.showed(receivedAtMs, clock.nowMs());
    return response;
  }

  /** The bytes of a view, or of the one that replaces a view that fails. */
  function attempt(view: object): Attempt {
    try {
      return { prepared: prepareView(view), failure: null };
    } catch (error) {
      return { prepared: prepareReplacement(view), failure: { error } };
    }
  }

  function prepareReplacement(failed: object | null): PreparedResponse | null {
    if (route.unavailable === null) return null;
    try {
      return prepareView(route.unavailable(sources.views, failed as never));
    } catch {
      return null; // The first error says why: both views have a part of the body in common.
    }
  }

  // A view is immutable: the same one means the same bytes.
  const prepareOnce = memoizeByIdentity(attempt);
  const parseSelection = memoize((query) => route.selection(new URLSearchParams(query)), queriesMax);

  function find(pathValue: string, selection: string): Attempt {
    let view: object;
    try {
      view = findView(sources.views, pathValue, selection as never);
    } catch (error) {
      return { prepared: prepareReplacement(null), failure: { error } };
    }
    return prepareOnce(view);
  }

  return (exchange, request) => {
    const pathValue = parsePathValue(route, request);
    if (pathValue === null) return writer.writeError(exchange, createPathError(route));
    const selection = isQueryRead ? parseSelection(transport.query(request)) : '';
    if (selection === null) return writer.writeError(exchange, createHttpError('invalid_query'));
    const refused = findRefusal?.(sources.views) ?? null;
    if (refused !== null) return writer.writeError(exchange, createHttpError(refused, retryAfterSeconds));
    const { prepared, failure } = find(pathValue, selection);
    if (failure !== null) guard.note(exchange, failure.error);
    if (prepared === null) return writer.writeError(exchange, createHttpError('internal_error'));
    if (isConditional) sender.sendConditionally(exchange, prepared);
    else sender.send(exchange, prepared);
  };
}
