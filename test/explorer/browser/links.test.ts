import { expect, it, onTestFinished, vi } from 'vitest';
import { openChannel } from '../../../http/explorer/browser/channel.ts';
import { followLinks } from '../../../http/explorer/browser/links.ts';
import { formatPlace } from '../../../http/explorer/place.ts';

class FakeElement {
  link: object | null;

  constructor(link: object | null) {
    this.link = link;
  }

  closest() {
    return this.link;
  }
}

const origin = 'https://wheel.example';
const click = { button: 0, defaultPrevented: false };

it.each([
  ['/statistics', '?range=30d', {}, {}, '/statistics?range=30d'],
  ['/', '', {}, {}, '/'],
  ['/owners/0xAB', '', {}, {}, '/owners/0xab'],
  ['/feed', '', {}, {}, null], // Shown already.
  ['/feed', '?category=all', {}, {}, null],
  ['/rounds/1', '', {}, {}, 'loaded'],
  ['/settlements/0x1', '', {}, {}, 'loaded'],
  ['/docs', '', {}, {}, 'loaded'],
  ['/statistics', '', { origin: 'https://other.example' }, {}, 'loaded'],
  ['/statistics', '', { target: '_blank' }, {}, 'loaded'],
  ['/statistics', '', { hash: '#2026-11-22' }, {}, 'loaded'],
  ['/statistics', '', {}, { button: 1 }, 'loaded'],
  ['/statistics', '', {}, { metaKey: true }, 'loaded'],
  ['/statistics', '', {}, { ctrlKey: true }, 'loaded'],
  ['/statistics', '', {}, { shiftKey: true }, 'loaded'],
  ['/statistics', '', {}, { altKey: true }, 'loaded'],
  ['/statistics', '', {}, { defaultPrevented: true }, 'loaded'],
])('a click on %s%s with %j and %j goes to %s', (pathname, search, link, event, expected) => {
  let onClick = (_: object) => {};
  vi.stubGlobal('document', {
    addEventListener: (_: string, listener: typeof onClick) => {
      onClick = listener;
    },
  });
  vi.stubGlobal('location', { origin, pathname: '/feed', search: '' });
  vi.stubGlobal('Element', FakeElement);
  onTestFinished(() => void vi.unstubAllGlobals());
  const places: string[] = [];
  followLinks((place) => places.push(formatPlace(place)));
  const preventDefault = vi.fn();
  onClick({ target: new FakeElement(null), ...click, preventDefault });
  const target = new FakeElement({ origin, pathname, search, hash: '', target: '', ...link });
  onClick({ target, ...click, preventDefault, ...event });
  expect(preventDefault).toHaveBeenCalledTimes(expected === 'loaded' ? 0 : 1);
  expect(places).toEqual(expected === null || expected === 'loaded' ? [] : [expected]);
});

it('tabs of one version talk, and not with themselves', async () => {
  const open: BroadcastChannel[] = [];
  class Channel extends BroadcastChannel {
    constructor(name: string) {
      super(name);
      open.push(this);
    }
  }
  vi.stubGlobal('BroadcastChannel', Channel);
  onTestFinished(() => {
    for (const channel of open) channel.close();
    vi.unstubAllGlobals();
  });
  const received: string[] = [];
  const [first] = ['first', 'second'].map((tab) =>
    openChannel('one', ({ kind }) => received.push(`${tab} ${kind}`)),
  );
  const other = openChannel('two', ({ kind }) => received.push(`other ${kind}`));
  other.post({ kind: 'wanted', paths: [] });
  first?.post({ kind: 'stream?' });
  await expect.poll(() => received).toEqual(['second stream?']);
  vi.stubGlobal('BroadcastChannel', undefined);
  expect(() => openChannel('one', () => {}).post({ kind: 'stream?' })).not.toThrow();
});
