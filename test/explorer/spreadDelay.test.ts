import { expect, it, onTestFinished, vi } from 'vitest';
import { readRetryAfter, spreadDelay } from '../../http/explorer/browser/spreadDelay.ts';

const bounds = { firstMs: 500, longestMs: 30_000 };

it('a wait doubles up to its bound, is never shorter than the service asks for, and grows by up to a fifth', () => {
  const random = vi.spyOn(Math, 'random').mockReturnValue(0);
  onTestFinished(() => random.mockRestore());
  const waits = () => [1, 2, 3, 7, 1_000].map((failures) => spreadDelay(failures, bounds));
  expect(waits()).toEqual([500, 1_000, 2_000, 30_000, 30_000]);
  expect([spreadDelay(1, bounds, 9_000), spreadDelay(3, bounds, 1_000)]).toEqual([9_000, 2_000]);
  random.mockReturnValue(0.5);
  expect(waits()).toEqual([550, 1_100, 2_200, 33_000, 33_000]);
});

it('only seconds in Retry-After are a wait', () => {
  const read = (headers: Record<string, string>) => readRetryAfter(new Response(null, { headers }));
  const values = ['2', '0', 'Thu, 26 Nov 2026 07:00:00 GMT', '-1', '1.5'];
  expect(values.map((value) => read({ 'Retry-After': value }))).toEqual([2_000, 0, 0, 0, 0]);
  expect([read({}), readRetryAfter(null)]).toEqual([0, 0]);
});
