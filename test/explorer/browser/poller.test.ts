import { expect, it, vi } from 'vitest';
import type { Message } from '../../../http/explorer/browser/channel.ts';
import { createPoller } from '../../../http/explorer/browser/poller.ts';
import { createStore } from '../../../http/explorer/browser/store.ts';
import type { FeedEvent, ResourceName } from '../../../http/explorer/page.ts';
import { corePath, eventsPath, intervalsMs, statusPath } from '../../../http/explorer/resources.ts';
import { useVirtualTime } from '../../support/virtualTime.ts';

useVirtualTime();

const feedPath = eventsPath('all');
const paths = new Map<string, ResourceName>([
  [corePath, 'core'],
  [statusPath, 'status'],
  [feedPath, 'events'],
]);

/** A tab that shows these resources. Its requests are answered with 200, a tag and a body, unless the test says otherwise. */
function createTab(shown: readonly string[] = [corePath]) {
  const tab = { isHidden: false, isFollower: false };
  const posted: Message[] = [];
  const times: string[] = [];
  const asked: { path: string; atMs: number; tag: string | null }[] = [];
  const answers: (Response | Promise<Response> | TypeError)[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (path, options) => {
    const tag = new Headers(options?.headers).get('If-None-Match');
    asked.push({ path: String(path), atMs: Date.now(), tag });
    const next = answers.shift();
    if (next instanceof TypeError) throw next;
    if (next !== undefined) return next;
    return tag === null
      ? Response.json({ generatedAt: path }, { headers: { ETag: '"1"' } })
      : new Response(null, { status: 304 });
  });
  const store = createStore(vi.fn(), vi.fn());
  const poller = createPoller({
    store,
    channel: { post: (message) => posted.push(message) },
    isHidden: () => tab.isHidden,
    isFollower: () => tab.isFollower,
    onServiceTime: (time) => times.push(time),
  });
  for (const path of shown) store.read(paths.get(path) as ResourceName, path);
  const startMs = Date.now();
  /** Ticks for some time. @returns when requests were sent, in seconds from the start. */
  const pass = async (seconds: number) => {
    asked.length = 0;
    for (let second = 0; second < seconds; second++) {
      poller.tick();
      await vi.advanceTimersByTimeAsync(1_000);
    }
    return asked.map(({ atMs }) => (atMs - startMs) / 1_000);
  };
  const receive = (message: Partial<Extract<Message, { kind: 'resource' }>>, path = corePath) =>
    poller.receive({ kind: 'resource', name: 'core', path, etag: '"1"', readAtMs: 1, ...message });
  const body = (path = corePath) => store.find(path)?.resource.body;
  return { tab, store, poller, posted, times, asked, answers, pass, receive, body };
}

/** An answer that arrives when the test says so. */
function hold() {
  let release = (_: Response) => {};
  const answer = new Promise<Response>((resolve) => {
    release = resolve;
  });
  return { answer, release };
}

it('an unchanged resource is read once per interval, and without its body', async () => {
  const { asked, posted, pass } = createTab();
  expect(await pass((3 * intervalsMs.core) / 1_000)).toEqual([0, 60, 120]);
  expect(asked.map(({ tag }) => tag)).toEqual([null, '"1"', '"1"']);
  expect(posted.map((message) => ({ ...message, readAtMs: 0 }))).toEqual([
    {
      kind: 'resource',
      name: 'core',
      path: corePath,
      etag: '"1"',
      readAtMs: 0,
      body: { generatedAt: corePath },
    },
    ...Array(2).fill({ kind: 'resource', name: 'core', path: corePath, etag: '"1"', readAtMs: 0 }),
  ]);
});

it('only the status tells the time of the service', async () => {
  const { times, pass } = createTab([corePath, statusPath, feedPath]);
  await pass(1);
  expect(times).toEqual([statusPath]);
});

it('a hidden tab reads the status alone, once a minute, and everything when it is shown again', async () => {
  const { tab, asked, pass } = createTab([corePath, statusPath]);
  await pass(1);
  tab.isHidden = true;
  expect(await pass(130)).toEqual([60, 120]);
  expect(new Set(asked.map(({ path }) => path))).toEqual(new Set([statusPath]));
  tab.isHidden = false;
  await pass(1);
  expect(asked.map(({ path }) => path)).toEqual([corePath, statusPath]);
});

it.each([
  ['as long as it is asked to', { 'Retry-After': '7' }, [0, 8, 16, 25]],
  ['twice as long each time, up to a minute', {}, [0, 3, 8, 17, 35, 71, 137, 203]],
  [
    'so, too, if it is asked in another form',
    { 'Retry-After': 'Thu, 26 Nov 2026 07:00:00 GMT' },
    [0, 3, 8, 17],
  ],
] as const)('a tab that is refused waits %s', async (_, headers, expected) => {
  const { answers, store, body, pass } = createTab();
  const refuse = () => Response.json({ error: 'database_busy' }, { status: 503, headers });
  answers.push(...Array.from({ length: 20 }, refuse));
  expect(await pass((expected.at(-1) as number) + 1)).toEqual(expected);
  const { problem } = store.find(corePath)?.resource ?? {};
  expect(problem).toMatchObject({ status: 503, code: 'database_busy' });
  expect(problem?.retryAtMs).toBeGreaterThan(Date.now());
  expect(body()).toBeNull();
});

it('a failure leaves what is shown, is over with the next answer, and the next one is waited for as briefly as the first', async () => {
  const { answers, store, pass } = createTab();
  await pass(1);
  const shown = store.find(corePath);
  answers.push(new TypeError('fetch failed'), new Response('<html>', { status: 502 }));
  expect(await pass(64)).toEqual([60, 63]);
  expect(store.find(corePath)).toMatchObject({
    etag: shown?.etag,
    resource: { body: shown?.resource.body, problem: { status: 502, code: '' } },
  });
  expect(await pass(5)).toEqual([68]);
  expect(store.find(corePath)?.resource).toEqual({ ...shown?.resource, problem: null });
  answers.push(new Response(null, { status: 503 }));
  expect(await pass(64)).toEqual([128, 131]);
});

it('a resource is asked for once at a time, and given up after fifteen seconds', async () => {
  const { poller, asked, store } = createTab();
  vi.mocked(fetch).mockImplementation((path, options) => {
    asked.push({ path: String(path), atMs: Date.now(), tag: null });
    return new Promise((_, reject) => {
      options?.signal?.addEventListener('abort', () => reject(options.signal?.reason));
    });
  });
  const timeouts: number[] = [];
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    timeouts.push(ms);
    const ending = new AbortController();
    setTimeout(() => ending.abort(new DOMException('late', 'TimeoutError')), ms);
    return ending.signal;
  });
  for (let second = 0; second < 15; second++) {
    poller.tick();
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect([asked.length, timeouts]).toEqual([1, [15_000]]);
  expect(store.find(corePath)?.resource.problem).toMatchObject({ status: 0, code: '' });
});

it('the clock of the visitor may be set back', async () => {
  const { pass, asked } = createTab();
  await pass(1);
  vi.setSystemTime(Date.now() - 3_600_000);
  await pass(1);
  expect(asked).toHaveLength(1);
});

it('what an event changes is read once, when the event has settled', async () => {
  const { poller, pass, asked } = createTab([corePath, statusPath]);
  await pass(1);
  for (let event = 0; event < 3; event++) poller.expire(({ name }) => name === 'core');
  // 1.5 seconds, and half as many by chance.
  expect(await pass(4)).toEqual([4]);
  expect(asked[0]?.path).toBe(corePath);
  poller.expire(({ name }) => name === 'core');
  await vi.advanceTimersByTimeAsync(1_000);
  // A later event does not put off what an earlier one has asked for.
  poller.expire(({ name }) => name === 'core');
  expect(await pass(3)).toEqual([6, 8]);
  expect(asked.map(({ path }) => path)).toEqual([statusPath, corePath]);
});

it('what an event changes is read again if the event came during a read', async () => {
  const { poller, answers, pass } = createTab();
  const { answer, release } = hold();
  answers.push(answer);
  poller.tick();
  await vi.advanceTimersByTimeAsync(1_000);
  poller.expire(() => true);
  await vi.advanceTimersByTimeAsync(9_000);
  release(Response.json('before the event'));
  await vi.advanceTimersByTimeAsync(0);
  expect(await pass(30)).toEqual([10]);
});

it('a tab that follows another one reads only what the other does not share in time', async () => {
  const { tab, poller, receive, pass } = createTab();
  tab.isFollower = true;
  expect(await pass(60)).toEqual([0]);
  receive({ readAtMs: Date.now(), body: 'shared' });
  expect(await pass(62)).toEqual([]);
  expect(await pass(1)).toEqual([122]);
  poller.expire(() => true);
  expect(await pass(6)).toEqual([128]);
  poller.expire(() => true);
  await pass(3);
  receive({ readAtMs: Date.now(), body: 'shared' });
  expect(await pass(10)).toEqual([]);
});

it('a body that another tab read earlier does not replace the shown one', () => {
  const { store, receive, body } = createTab();
  const take = (readAtMs: number, given: string | undefined, etag = `"${readAtMs}"`) => {
    receive({ readAtMs, etag, body: given });
    return body();
  };
  expect(take(2_000, 'newer')).toBe('newer');
  expect(take(1_000, 'older')).toBe('newer');
  expect(take(2_000, 'of the same time')).toBe('newer');
  expect(take(3_000, undefined)).toBe('newer');
  expect(store.find(corePath)).toMatchObject({ etag: '"2000"', readAtMs: 2_000 });
  expect(take(3_000, undefined, '"2000"')).toBe('newer');
  expect(store.find(corePath)?.readAtMs).toBe(3_000);
  expect(take(4_000, 'newest')).toBe('newest');
  receive({ readAtMs: 5_000, body: 'not shown here' }, statusPath);
  expect(store.find(statusPath)).toBeUndefined();
});

const page = (...ids: string[]) => {
  const events = ids.map((id) => ({ id, type: 'player.miner_minted' }));
  return { status: 'available', category: 'all', events, nextCursor: null };
};
type Tab = ReturnType<typeof createTab>;
const newest = page('new').events[0] as unknown as FeedEvent;
const shared = { etag: '"2"', body: page('other') };

it.each([
  ['an event', ({ store }: Tab) => store.addEvent(newest), page('new', 'old'), [1]],
  ['a further page', ({ store }: Tab) => store.append(feedPath, page('older')), page('old', 'older'), []],
  [
    'the answer of another tab',
    ({ receive }: Tab) => receive({ ...shared, readAtMs: Date.now() }, feedPath),
    shared.body,
    [],
  ],
] as const)(
  '%s that arrives during a read is not replaced by its answer',
  async (_, arrive, expected, next) => {
    for (const late of [
      new Response(null, { status: 304 }),
      Response.json(page('old')),
      Response.json({}, { status: 503 }),
    ]) {
      const tab = createTab([feedPath]);
      tab.receive({ readAtMs: 1, etag: '"1"', body: page('old') }, feedPath);
      const { answer, release } = hold();
      tab.answers.push(answer);
      tab.poller.tick();
      await vi.advanceTimersByTimeAsync(1_000);
      arrive(tab);
      release(late);
      await vi.advanceTimersByTimeAsync(0);
      expect(tab.body(feedPath)).toEqual(expected);
      if (late.status !== 503) expect(await tab.pass(3)).toEqual(next);
    }
  },
);

it('a list to which pages were added is neither read again nor replaced by another tab', async () => {
  const { store, body, receive, pass } = createTab([feedPath]);
  await pass(1);
  store.put({ ...(store.find(feedPath) as NonNullable<ReturnType<typeof store.find>>), isExtended: true });
  const shown = body(feedPath);
  receive({ readAtMs: Date.now(), body: 'first page' }, feedPath);
  expect([body(feedPath), await pass(200)]).toEqual([shown, []]);
});

it('another tab gets the bodies that it wants and that are known', async () => {
  const { poller, posted, pass, store } = createTab();
  await pass(1);
  posted.length = 0;
  store.read('status', statusPath);
  poller.receive({ kind: 'wanted', paths: [corePath, statusPath, feedPath] });
  expect(posted).toMatchObject([{ path: corePath, etag: '"1"', body: { generatedAt: corePath } }]);
});

it.each([
  [corePath, `${corePath}?cursor=a%2B%2Fb`],
  [feedPath, `${feedPath}&cursor=a%2B%2Fb`],
])('a further page of %s is asked for with its cursor', async (path, expected) => {
  const { poller, asked, answers } = createTab();
  answers.push(Response.json('page'), Response.json('none', { status: 409 }));
  expect(await poller.readPage(path, 'a+/b')).toBe('page');
  expect(asked.map((one) => [one.path, one.tag])).toEqual([[expected, null]]);
  await expect(poller.readPage(path, 'a+/b')).rejects.toThrow('409');
});
