import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPullSizing } from '../../streams/jetstream/pullSizing.ts';

const bounds = { messages: 2_000, bytes: 32 * 1024 * 1024 };

describe('the number of requested messages', () => {
  it('is the largest while messages are small, and follows large ones at once', () => {
    const pulls = createPullSizing(bounds);
    expect(pulls.observe(500)).toBe(false);
    expect(pulls.messages).toBe(2_000);
    expect(pulls.observe(1024 * 1024)).toBe(true);
    expect(pulls.messages).toBe(32);
  });

  it('grows again once messages have been small for a while', () => {
    const pulls = createPullSizing(bounds);
    pulls.observe(1024 * 1024);
    const changes = Array.from({ length: 500 }, () => pulls.observe(400));
    expect(changes.filter(Boolean)).toHaveLength(1);
    expect(pulls.messages).toBe(2_000);
  });

  it('times the size of each message stays within twice the bound, and is at least one', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 64 * 1024 * 1024 }), { maxLength: 3_000 });
    fc.assert(
      fc.property(sizes, (all) => {
        const pulls = createPullSizing(bounds);
        for (const bytes of all) {
          const before = pulls.messages;
          expect(pulls.observe(bytes)).toBe(pulls.messages !== before);
          expect(pulls.messages).toBeGreaterThanOrEqual(1);
          if (pulls.messages > 1) expect(bytes * pulls.messages).toBeLessThanOrEqual(bounds.bytes * 2);
        }
      }),
    );
  });
});
