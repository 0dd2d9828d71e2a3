/** @returns milliseconds from `Retry-After`; null without one, or for a date, which proxies may send. */
export function readRetryAfter(response: Response | null): number | null {
  const value = response?.headers.get('Retry-After') ?? '';
  return /^\d+$/.test(value) ? Number(value) * 1_000 : null;
}
