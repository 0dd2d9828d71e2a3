import { afterEach, beforeEach, vi } from 'vitest';

/** Time passes only as a test of this suite says, and jitter is always half of its bound. */
export function useVirtualTime(): void {
  beforeEach(() => {
    vi.useFakeTimers();
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });
}
