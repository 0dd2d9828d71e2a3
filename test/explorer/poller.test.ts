import { expect, it, vi } from 'vitest';
import { createPoller } from '../../http/explorer/browser/poller.ts';
import { createStore } from '../../http/explorer/browser/store.ts';
import { corePath, intervalsMs } from '../../http/explorer/resources.ts';
import { useVirtualTime } from '../support/virtualTime.ts';

useVirtualTime();

function createWorld() {
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
  return { store, poller };
}

it('an unchanged resource is read once per interval', async () => {
  const answer = vi.spyOn(globalThis, 'fetch').mockImplementation(async (_, options) => {
    const isKnown = new Headers(options?.headers).has('If-None-Match');
    return isKnown ? new Response(null, { status: 304 }) : Response.json({}, { headers: { ETag: '"1"' } });
  });
  const { poller } = createWorld();
  for (let second = 0; second < (3 * intervalsMs.core) / 1_000; second++) {
    await poller.readAll();
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(answer).toHaveBeenCalledTimes(3);
});

it('a body that another tab read earlier does not replace the shown one', () => {
  const { store, poller } = createWorld();
  const receive = (readAtMs: number, body: unknown, etag = `"${readAtMs}"`) => {
    poller.receive({
      kind: 'resource',
      name: 'core',
      path: corePath,
      etag,
      readAtMs,
      ...(body !== null && { body }),
    });
    return store.find(corePath)?.resource.body;
  };
  expect(receive(2_000, 'newer')).toBe('newer');
  expect(receive(1_000, 'older')).toBe('newer');
  expect(receive(2_000, 'of the same time')).toBe('newer');
  expect(receive(3_000, null)).toBe('newer');
  expect(store.find(corePath)).toMatchObject({ etag: '"2000"', readAtMs: 2_000 });
  expect(receive(3_000, null, '"2000"')).toBe('newer');
  expect(store.find(corePath)?.readAtMs).toBe(3_000);
  expect(receive(4_000, 'newest')).toBe('newest');
});
