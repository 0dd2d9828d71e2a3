import { expect } from 'vitest';
import type { ErrorCode } from '../../../http/routes/errors.ts';

/** Fails unless a response is the error, with the headers of every error. `asked` names the request if the test fails. */
export async function expectError(
  response: Response,
  status: number,
  error: ErrorCode,
  asked = response.url,
) {
  expect([asked, response.status, await response.json()]).toEqual([asked, status, { error }]);
  const { headers } = response;
  expect([asked, headers.get('cache-control')]).toEqual([asked, 'no-store']);
  expect(headers.get('link')).toBe(`</docs/errors#${error}>; rel="help"`);
  expect(headers.get('x-request-id')).toBeTruthy();
}
