import { expect, it, vi } from 'vitest';
import { createPoller } from '../../http/explorer/browser/poller.ts';
import { createStore } from '../../http/explorer/browser/store.ts';
import { corePath, intervalsMs } from '../../http/explorer/resources.ts';
import { useVirtualTime } from '../support/virtualTime.ts';

useVirtualTime();

it('an unchanged resource is read once per interval', async () => {
  const answer = vi.spyOn(globalThis, 'fetch').mockImplementation(async (_, options) => {
    const isKnown = new Headers(options?.headers).has('If-None-Match');
    return isKnown ? new Response(null, { status: 304 }) : Response.json({}, { headers: { ETag: '"1"' } });
  });
  const ignore = () => undefined;
  const store = createStore(ignore, ignore);
  const poller = createPoller({
    store,
    channel: { post: ignore },
    isHidden: () => false,
    isFollower: () => false,
    onServiceTime: ignore,
  });
  store.read('core', corePath);
  for (let second = 0; second < (3 * intervalsMs.core) / 1_000; second++) {
    await poller.readAll();
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(answer).toHaveBeenCalledTimes(3);
});
