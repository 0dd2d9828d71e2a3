import {
  BehaviorSubject,
  filter,
  firstValueFrom,
  fromEvent,
  type MonoTypeOperatorFunction,
  merge,
  tap,
} from 'rxjs';

/** What is under way between the two ends of a pipeline, by weight. */
export interface Gate {
  readonly isOpen: boolean;
  /** Resolves once half of the bound is free (to open and close for each item would cost more than it bounds), or at the signal. */
  opened(signal: AbortSignal): Promise<void>;
  enter(weight: number): void;
  leave(weight: number): void;
}

export interface GateOptions {
  /** The gate is closed while so much or more is under way. */
  readonly max: number;
  /** Called when it closes: what only gathers need not wait for more, which will not come. */
  readonly onClosed?: () => void;
}

export function createGate({ max, onClosed }: GateOptions): Gate {
  const underWay$ = new BehaviorSubject(0);
  return {
    get isOpen() {
      return underWay$.value < max;
    },
    opened: async (signal) => {
      if (underWay$.value < max || signal.aborted) return;
      const opened$ = underWay$.pipe(filter((weight) => weight <= max / 2));
      await firstValueFrom(merge(opened$, fromEvent(signal, 'abort')));
    },
    enter: (weight) => {
      const before = underWay$.value;
      underWay$.next(before + weight);
      if (before < max && underWay$.value >= max) onClosed?.();
    },
    leave: (weight) => underWay$.next(underWay$.value - weight),
  };
}

/** At the end of what a gate bounds: what comes out has left. */
export function leaveGate<Item extends { readonly weight: number }>(
  gate: Gate,
): MonoTypeOperatorFunction<Item> {
  return tap(({ weight }) => gate.leave(weight));
}

/** For what is dealt with at once. */
export const alwaysOpen: Gate = {
  isOpen: true,
  opened: async () => undefined,
  enter: () => undefined,
  leave: () => undefined,
};
