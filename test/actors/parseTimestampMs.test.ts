import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseTimestampMs } from '../../actors/schemas/parseTimestampMs.ts';

it('the time of a timestamp equals Date.parse in any year and with any fraction', () => {
  const time = fc.integer({ min: Date.UTC(0, 0, 1) - 62_167_219_200_000, max: Date.UTC(9999, 11, 31) });
  fc.assert(
    fc.property(time, fc.constantFrom('', '.5', '.123', '.123456789'), (ms, fraction) => {
      const date = new Date(ms);
      if (date.getUTCFullYear() < 0 || date.getUTCFullYear() > 9999) return;
      const text = date.toISOString();
      expect(parseTimestampMs(text)).toBe(ms);
      const other = `${text.slice(0, 19)}${fraction}Z`;
      expect(parseTimestampMs(other)).toBe(Date.parse(other));
    }),
    { numRuns: 2_000 },
  );
  for (const date of ['2024-02-29', '2000-02-29', '1900-03-01', '0000-01-01'])
    for (const text of [`${date}T00:00:00.000Z`, `${date}T23:59:59.999Z`])
      expect(parseTimestampMs(text)).toBe(Date.parse(text));
});
