import type { Logger } from 'pino';
import { expect, it } from 'vitest';
import { createAccessLog } from '../../http/server/requests/answeredRequest.ts';

it('the access log has every n-th request, with its milliseconds to three decimals', () => {
  const lines: unknown[] = [];
  const log = createAccessLog({ info: (...line: unknown[]) => lines.push(line) } as unknown as Logger, 2);
  for (const requestId of ['request-1', 'request-2', 'request-3', 'request-4', 'request-5'])
    log({ requestId, route: '/v1/status', status: '304 Not Modified', seconds: 0.0012346 });
  const line = { route: '/v1/status', status: 304, durationMs: 1.235, oneOf: 2 };
  expect(lines).toEqual([
    [{ requestId: 'request-2', ...line }, 'request'],
    [{ requestId: 'request-4', ...line }, 'request'],
  ]);
});
