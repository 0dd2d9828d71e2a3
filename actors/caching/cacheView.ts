import type { Clock } from '../clock.ts';

/** How long a view may be shown. Ages are measured by the monotonic clock. */
interface ViewValidity<View> {
  readonly clock: Clock;
  /** A view of this age is computed again, even if its inputs are the same. */
  readonly maxAgeMs: number;
  /** A younger view is shown even if its inputs have changed; 0 by default. */
  readonly minAgeMs?: number;
  /** Whether a view must be computed again at once, at any age. */
  readonly isOutdated?: (view: View) => boolean;
}

interface CachedViewOptions<
  Request extends readonly unknown[],
  Inputs extends readonly unknown[] | [],
  View,
> {
  /** Values that the view is computed from. They are immutable, so a changed value is a new one. */
  readonly inputs: (...request: Request) => Inputs;
  readonly compute: (...inputs: NoInfer<Inputs>) => View;
  /** Omitted for a view that depends only on its inputs. */
  readonly validity?: ViewValidity<View>;
}

/**
 * Caches a view: returns the same object until an input changes (`===`) or its validity ends. Views are computed on request, so a
 * burst of messages costs only as much as the requests after it.
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

/** Written as a loop for speed, since each request compares inputs. */
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
