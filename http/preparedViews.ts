import type { PreparedResponse } from './preparedResponse.ts';

/**
 * Answers by the identity of the view that they show: a view is immutable, so the same one means the same bytes.
 * Holds what callers still hold, and the newest.
 */
export function createPreparedViews(
  prepare: (view: object) => PreparedResponse,
): (view: object) => PreparedResponse {
  const prepared = new WeakMap<object, PreparedResponse>();
  let newestView: object | null = null;
  let newest: PreparedResponse | null = null;
  return (view) => {
    if (newest !== null && newestView === view) return newest;
    const found = prepared.get(view) ?? prepare(view);
    prepared.set(view, found);
    newestView = view;
    newest = found;
    return found;
  };
}
