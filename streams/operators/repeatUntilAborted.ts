import { defer, lastValueFrom, repeat, takeUntil, timer } from 'rxjs';
import { whenAborted } from './whenAborted.ts';

/** Runs a step and waits, repeatedly, until the signal is aborted; a running step is awaited. */
export async function repeatUntilAborted(
  step: () => Promise<void>,
  delayMs: () => number,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  const aborted$ = whenAborted(signal);
  const steps$ = defer(step).pipe(repeat({ delay: () => timer(delayMs()).pipe(takeUntil(aborted$)) }));
  await lastValueFrom(steps$);
}
