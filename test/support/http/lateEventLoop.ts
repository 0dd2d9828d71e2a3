import { eventLoopDelayMaxMs } from '../../../http/server/limits/loadGuard.ts';
import { whenFinished } from '../processes/lifetime.ts';
import type { TestPublicServer } from './publicServer.ts';

/**
 * Blocks the event loop, which the test shares with its server, so long that expensive requests are refused.
 *
 * @returns a function that ends it.
 */
export function makeEventLoopLate({ clock }: TestPublicServer): () => void {
  let isOver = false;
  // Each turn of the event loop exceeds the limit.
  const block = () => {
    const untilMs = performance.now() + 4 * eventLoopDelayMaxMs;
    while (performance.now() < untilMs);
    clock.advance(4 * eventLoopDelayMaxMs);
    if (!isOver) setTimeout(block, 0);
  };
  block();
  const end = () => {
    isOver = true;
  };
  whenFinished(end);
  return end;
}
