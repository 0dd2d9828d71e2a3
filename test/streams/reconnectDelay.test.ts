import { expect, it } from 'vitest';
import { createReconnectDelay } from '../../streams/nats/reconnectDelay.ts';

it('reconnecting waits zero only briefly after a clock was put back', () => {
  let wallMs = 1_000_000;
  const delay = createReconnectDelay({
    waitMs: 500,
    jitterMs: 250,
    wallMs: () => wallMs,
    random: () => 0.5,
  });
  expect(delay()).toBe(625);
  wallMs -= 1;
  const delays = Array.from({ length: 10 }, delay);
  expect(delays.slice(0, 8)).toEqual(Array.from({ length: 8 }, () => Number.NEGATIVE_INFINITY));
  expect(delays.slice(8)).toEqual([625, 625]);
});
