import { afterEach, beforeEach, vi } from 'vitest';

/** In the calling suite time passes only when a test advances it, and jitter is always half of its bound. */
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
