import { expect, it } from 'vitest';
import { toIsoString } from '../../http/responses/isoTime.ts';

it('times end with the year 9999, whatever a contract holds', () => {
  const lastMs = Date.parse('9999-12-31T23:59:59.999Z');
  expect(toIsoString(lastMs - 1)).toBe('9999-12-31T23:59:59.998Z');
  for (const timeMs of [lastMs, lastMs + 1, 8.64e15 + 1, Number(2n ** 64n - 1n) * 1_000, 2 ** 256 * 1_000])
    expect(toIsoString(timeMs)).toBe('9999-12-31T23:59:59.999Z');
});
