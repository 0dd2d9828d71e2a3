/**
 * Answers by the identity of the view that they show: a view is immutable, so the same one means the same bytes.
 * Holds what callers still hold, and the newest.
 */
export function createPreparedViews<Answer>(prepare: (view: object) => Answer): (view: object) => Answer {
  const prepared = new WeakMap<object, { readonly answer: Answer }>();
  let newestView: object | null = null;
  let newest: { readonly answer: Answer } | null = null;
  return (view) => {
    if (newest !== null && newestView === view) return newest.answer;
    const found = prepared.get(view) ?? { answer: prepare(view) };
    prepared.set(view, found);
    newestView = view;
    newest = found;
    return found.answer;
  };
}
