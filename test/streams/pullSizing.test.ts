import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPullSizing, requestsUnderWay } from '../../streams/jetstream/source/pullSizing.ts';

const bounds = { messages: 2_000, bytes: 32 * 1024 * 1024 };

describe('the number of requested messages', () => {
  it('is the largest while messages are small, and follows large ones at once', () => {
    const pulls = createPullSizing(bounds);
    expect(pulls.observe(500)).toBe(false);
    expect(pulls.messages).toBe(2_000);
    expect(pulls.observe(1024 * 1024)).toBe(true);
    expect(pulls.messages).toBe(4);
  });

  it('grows again once messages have been small for a while', () => {
    const pulls = createPullSizing(bounds);
    pulls.observe(1024 * 1024);
    const changes = Array.from({ length: 500 }, () => pulls.observe(400));
    expect(changes.filter(Boolean)).toHaveLength(1);
    expect(pulls.messages).toBe(2_000);
  });

  it('times the size of each message stays within the bound of a request, and is at least two', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 64 * 1024 * 1024 }), { maxLength: 3_000 });
    fc.assert(
      fc.property(sizes, (all) => {
        const pulls = createPullSizing(bounds);
        for (const bytes of all) {
          const before = pulls.messages;
          expect(pulls.observe(bytes)).toBe(pulls.messages !== before);
          expect(pulls.messages).toBeGreaterThanOrEqual(2);
          if (pulls.messages > 2) expect(bytes * pulls.messages).toBeLessThanOrEqual(pulls.requestBytes);
          expect(pulls.threshold).toBeGreaterThanOrEqual(1);
          expect(pulls.threshold).toBeLessThanOrEqual(pulls.messages / 2);
        }
        expect(pulls.requestBytes * requestsUnderWay).toBe(bounds.bytes);
      }),
    );
  });

  it('leads to no more requests under way than are counted with, though the server serves them in turn', () => {
    for (const largest of [2, 3, 5, 32, 777, 2_000]) {
      const { messages, threshold } = createPullSizing({ ...bounds, messages: largest });
      const underWay = [messages];
      let pending = messages;
      let most = 0;
      for (let delivered = 0; delivered < 20_000; delivered++) {
        const left = (underWay.shift() ?? 0) - 1;
        if (left > 0) underWay.push(left);
        pending--;
        if (pending <= threshold) {
          underWay.push(messages - pending);
          pending = messages;
        }
        most = Math.max(most, underWay.length);
      }
      expect(most).toBeLessThanOrEqual(requestsUnderWay);
    }
  });
});
