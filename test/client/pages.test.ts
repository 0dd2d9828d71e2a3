import { expect, it } from 'vitest';
import { readPages } from '../../http/client/pages.ts';
import type { Requester } from '../../http/client/request.ts';
import { ServiceError } from '../../http/client/serviceError.ts';

it('a list whose state is gone at each second page starts again five times, and then fails', async () => {
  const refusal = { url: '/', status: 409, code: 'cursor_invalidated', requestId: null, retryAfterMs: null };
  let asked = 0;
  const requester = {
    get: async (_path: string, { cursor }: { cursor?: string }) => {
      if (++asked > 20) throw new Error('it starts again for ever');
      if (cursor !== undefined) throw new ServiceError(refusal);
      return { nextCursor: 'second' };
    },
  };
  const restarts: boolean[] = [];
  const readAll = async () => {
    const pages = readPages(requester as unknown as Requester, '/v1/owners/{address}/miners', {}, {});
    for await (const { isRestart } of pages) restarts.push(isRestart);
  };
  await expect(readAll()).rejects.toMatchObject({ code: 'cursor_invalidated' });
  expect(restarts).toEqual([false, true, true, true, true, true]);
});
