import { currentWorld } from '../world/currentWorld.ts';

/** `node:timers/promises` in virtual time. */
export function setImmediate(): Promise<void> {
  return new Promise((resolve) => currentWorld().time.schedule(0, resolve));
}

export function setTimeout<Value>(
  ms = 1,
  value?: Value,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = currentWorld().time.startTimer(Math.max(1, ms), () => resolve(value));
    signal?.addEventListener('abort', () => {
      timer.cancel();
      reject(signal.reason);
    });
  });
}
