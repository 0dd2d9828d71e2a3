import { describe, expect, it, vi } from 'vitest';
import { createStore, type Entry } from '../../../http/explorer/browser/store.ts';
import type { FeedEvent, ResourceName } from '../../../http/explorer/page.ts';
import { corePath, eventsPath, portfolioPath, statusPath } from '../../../http/explorer/resources.ts';

/** A store whose page shows these resources. */
function createWorld(shown: readonly (readonly [ResourceName, string])[] = []) {
  const onChange = vi.fn();
  const onUnknown = vi.fn();
  const store = createStore(onChange, onUnknown);
  for (const [name, path] of shown) store.read(name, path);
  const put = (path: string, body: unknown, change: Partial<Entry> = {}) => {
    const entry = store.find(path) as Entry;
    store.put({ ...entry, readAtMs: 1, ...change, resource: { body, problem: null } });
  };
  return { store, onChange, onUnknown, put, body: (path: string) => store.find(path)?.resource.body };
}

const listShown = ({ store }: ReturnType<typeof createWorld>) => [...store.shown()].map(({ path }) => path);

const event = (id: number, type = 'player.miner_minted') => ({ id: `${id}`, type }) as unknown as FeedEvent;

it('a page shows what it has read since its rendering began', () => {
  const world = createWorld([
    ['status', statusPath],
    ['core', corePath],
  ]);
  const { store, onUnknown, put } = world;
  expect(onUnknown).toHaveBeenCalledTimes(2);
  put(corePath, 'core');
  store.beginRender();
  expect(store.read('core', corePath)).toEqual({ body: 'core', problem: null });
  expect(listShown(world)).toEqual([corePath]);
  expect(onUnknown).toHaveBeenCalledTimes(2);
});

it('what is not shown is kept for going back, but not beyond thirty-two resources', () => {
  const world = createWorld(Array.from({ length: 32 }, (_, index) => ['core', `/${index}`] as const));
  const { store, onUnknown } = world;
  for (let rendering = 0; rendering < 2; rendering++) store.beginRender();
  store.read('core', '/0');
  expect([onUnknown.mock.calls.length, store.find('/31')?.path]).toEqual([32, '/31']);
  store.read('core', '/32');
  store.beginRender();
  expect(['/0', '/1', '/2', '/31', '/32'].filter((path) => store.find(path))).toEqual([
    '/0',
    '/2',
    '/31',
    '/32',
  ]);
});

describe('an event', () => {
  it('is the first of the feeds of its category, once', () => {
    const { store, onChange, put, body } = createWorld(
      ['all', 'players', 'protocol'].map((category) => ['events', eventsPath(category)] as const),
    );
    store.addEvent(event(1));
    for (const category of ['all', 'players', 'protocol'])
      put(eventsPath(category), { status: 'available', category, events: [event(0)] });
    onChange.mockClear();
    for (let time = 0; time < 2; time++) store.addEvent(event(2));
    expect(onChange).toHaveBeenCalledTimes(2);
    expect(['all', 'players', 'protocol'].map((category) => body(eventsPath(category)))).toEqual([
      { status: 'available', category: 'all', events: [event(2), event(0)] },
      { status: 'available', category: 'players', events: [event(2), event(0)] },
      { status: 'available', category: 'protocol', events: [event(0)] },
    ]);
  });

  it('displaces the oldest of four hundred', () => {
    const path = eventsPath('all');
    const { store, put, body } = createWorld([['events', path]]);
    put(path, {
      status: 'available',
      category: 'all',
      events: Array.from({ length: 400 }, (_, id) => event(id)),
    });
    store.addEvent(event(1_000));
    const { events } = body(path) as { events: readonly FeedEvent[] };
    expect([events.length, events[0]?.id, events.at(-1)?.id]).toEqual([400, '1000', '398']);
  });
});

it.each([
  ['events', eventsPath('all')],
  ['positions', portfolioPath('0x1')],
] as const)(
  'a further page of %s comes after the first one, and says where the next one begins',
  (list, path) => {
    const { store, put, body } = createWorld([['events', path]]);
    put(path, { status: 'available', [list]: [1], nextCursor: 'two', of: 'first' });
    store.append(path, { status: 'available', [list]: [2], nextCursor: 'three', of: 'second' });
    expect(body(path)).toEqual({ status: 'available', [list]: [1, 2], nextCursor: 'three', of: 'first' });
    expect(store.find(path)).toMatchObject({ isExtended: true, readAtMs: 1 });
    // The state of the list is gone.
    store.append(path, { status: 'unavailable' });
    expect(body(path)).toMatchObject({ [list]: [1, 2], nextCursor: 'three' });
    store.append('/nowhere', {});
    expect(store.find('/nowhere')).toBeUndefined();
  },
);

describe('a reorganization', () => {
  const core = (settledThroughRound: number, safeThroughBlock: number, address = '0x1') => ({
    status: 'available',
    identities: { core: address },
    core: { settledThroughRound: `${settledThroughRound}` },
    chain: { safeThroughBlock: `${safeThroughBlock}` },
  });
  const gone = { firstRound: 6n, lastRound: 9n };

  it.each([
    ['fewer rounds at a later block', [core(9, 100), core(5, 101)], gone],
    ['fewer rounds at the same block', [core(9, 100), core(5, 100)], gone],
    ['fewer rounds at an earlier block, as of a replica that is behind', [core(9, 100), core(5, 99)], null],
    ['such a replica, and then a reorganization', [core(9, 100), core(5, 99), core(5, 100)], gone],
    ['as many rounds', [core(9, 100), core(9, 100)], null],
    ['fewer rounds of another contract', [core(9, 100), core(5, 101, '0x2')], null],
    [
      'some of the rounds again',
      [core(9, 100), core(5, 101), core(7, 102)],
      { firstRound: 8n, lastRound: 9n },
    ],
    ['all rounds again', [core(9, 100), core(5, 101), core(9, 102)], null],
    ['nothing known', [core(9, 100), { status: 'unavailable' }], null],
    ['nothing known, and then fewer rounds', [core(9, 100), { status: 'unavailable' }, core(5, 101)], gone],
  ])('is told by %s', (_, bodies, expected) => {
    const { store, put } = createWorld([['core', corePath]]);
    for (const body of bodies) put(corePath, body);
    expect(store.reversal()).toEqual(expected);
  });

  it('lets all lists begin again, once', () => {
    const lists = [
      ['events', eventsPath('all')],
      ['portfolio', portfolioPath('0x1')],
    ] as const;
    const { store, put } = createWorld([['core', corePath], ['status', statusPath], ...lists]);
    const extend = () => {
      for (const [, path] of [['status', statusPath], ...lists])
        put(path as string, {}, { isExtended: true });
    };
    const readTimes = () => [...store.shown()].map(({ isExtended, readAtMs }) => [isExtended, readAtMs]);
    extend();
    put(corePath, core(9, 100));
    put(corePath, core(5, 101));
    expect(readTimes()).toEqual([
      [false, 1],
      [true, 1],
      [false, 0],
      [false, 0],
    ]);
    extend();
    put(corePath, core(5, 102));
    expect(readTimes().slice(2)).toEqual([
      [true, 1],
      [true, 1],
    ]);
  });
});
