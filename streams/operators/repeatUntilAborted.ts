import { defer, lastValueFrom, repeat, takeUntil, timer } from 'rxjs';
import { whenAborted } from './whenAborted.ts';

/** Takes a step, waits, and takes the next one, until the signal is aborted; a step that is under way is awaited. */
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
