import type { Clock } from './clock.ts';

/** How long a view may be shown. Ages are those of the monotonic clock. */
export interface ViewValidity<View> {
  readonly clock: Clock;
  /** A view of this age is computed again, even when its inputs are the same. */
  readonly maxAgeMs: number;
  /** A view below this age is shown whatever has become of its inputs; 0 unless it is set. */
  readonly minAgeMs?: number;
  /** Whether a view must be computed again at once, whatever its age. */
  readonly isOutdated?: (view: View) => boolean;
}

export interface CachedViewOptions<
  Request extends readonly unknown[],
  Inputs extends readonly unknown[] | [],
  View,
> {
  /** What the view is computed from: immutable values, each of them another one once it has changed. */
  readonly inputs: (...request: Request) => Inputs;
  readonly compute: (...inputs: NoInfer<Inputs>) => View;
  /** Left out for a view that depends on its inputs alone. */
  readonly validity?: ViewValidity<View>;
}

/**
 * How every view is cached: the same object is returned until one of its inputs is another one (`===`) or its validity ends.
 * Views are computed on request, so a burst of messages costs no more than the requests that follow it.
 */
export function cacheView<Request extends readonly unknown[], Inputs extends readonly unknown[] | [], View>({
  inputs,
  compute,
  validity,
}: CachedViewOptions<Request, Inputs, View>): (...request: Request) => View {
  let cached: { readonly view: View; readonly inputs: Inputs; readonly computedAtMs: number } | null = null;
  return (...request) => {
    const nowMs = validity?.clock.monotonicMs() ?? 0;
    const shown = cached !== null && isValid(cached, nowMs, validity) ? cached : null;
    if (shown !== null && nowMs - shown.computedAtMs < (validity?.minAgeMs ?? 0)) return shown.view;
    const current = inputs(...request);
    if (shown !== null && areSame(shown.inputs, current)) return shown.view;
    const view = compute(...current);
    cached = { view, inputs: current, computedAtMs: nowMs };
    return view;
  };
}

/** A loop, since each request compares inputs. */
function areSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  for (let index = 0; index < some.length; index++) if (some[index] !== others[index]) return false;
  return true;
}

function isValid<View>(
  { view, computedAtMs }: { readonly view: View; readonly computedAtMs: number },
  nowMs: number,
  validity: ViewValidity<View> | undefined,
): boolean {
  if (validity === undefined) return true;
  return nowMs - computedAtMs < validity.maxAgeMs && !validity.isOutdated?.(view);
}
