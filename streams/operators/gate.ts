import { BehaviorSubject, filter, firstValueFrom, type MonoTypeOperatorFunction, merge, tap } from 'rxjs';
import { whenAborted } from './whenAborted.ts';

interface GateOptions {
  /** The gate is closed while this weight or more has entered and not left. */
  readonly max: number;
  /** Called when it closes: nothing more will arrive, so an operator that gathers items need not wait. */
  readonly onClosed?: () => void;
}

export type Gate = ReturnType<typeof createGate>;

/** Bounds the weight of the items between the two ends of a pipeline. */
export function createGate({ max, onClosed }: GateOptions) {
  const entered$ = new BehaviorSubject(0);
  const isHalfFull = (weight: number) => weight > max / 2;
  return {
    get isOpen() {
      return entered$.value < max;
    },
    /** Once it has closed, it opens when this ends. */
    get isHalfFull() {
      return isHalfFull(entered$.value);
    },
    /**
     * Resolves at once while the gate is open, otherwise once half of the bound is free: opening and closing for each item would cost too
     * much. The signal also resolves it.
     */
    opened: async (signal: AbortSignal) => {
      if (entered$.value < max || signal.aborted) return;
      const opened$ = entered$.pipe(filter((weight) => !isHalfFull(weight)));
      await firstValueFrom(merge(opened$, whenAborted(signal)));
    },
    enter: (weight: number) => {
      const before = entered$.value;
      entered$.next(before + weight);
      if (before < max && entered$.value >= max) onClosed?.();
    },
    leave: (weight: number) => entered$.next(entered$.value - weight),
  };
}

/** Ends the section that a gate bounds: items that pass have left the gate. */
export function leaveGate<Item extends { readonly weight: number }>(
  gate: Gate,
): MonoTypeOperatorFunction<Item> {
  return tap(({ weight }) => gate.leave(weight));
}
