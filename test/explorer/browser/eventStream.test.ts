import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import type { Message } from '../../../http/explorer/browser/channel.ts';
import { createEventStream } from '../../../http/explorer/browser/eventStream.ts';
import { useVirtualTime } from '../../support/virtualTime.ts';

useVirtualTime();

/** Connections of all tabs, in order. */
let sources: FakeSource[];

class FakeSource extends EventTarget {
  static readonly CLOSED = 2;
  readyState = 0;
  onopen = () => {};
  onerror = () => {};

  readonly url: string;

  constructor(url: string) {
    super();
    this.url = url;
    sources.push(this);
  }

  close() {
    this.readyState = FakeSource.CLOSED;
  }

  open() {
    this.readyState = 1;
    this.onopen();
  }

  fail(readyState: number) {
    this.readyState = readyState;
    this.onerror();
  }

  send(id: string) {
    this.dispatchEvent(new MessageEvent('player.miner_minted', { data: JSON.stringify({ id }) }));
  }

  /** The position of a stream that begins now, which is no event. */
  sendPosition() {
    this.dispatchEvent(new MessageEvent('position', { data: '{}' }));
  }
}

/** The lock of a browser: one holder, and others in order. */
function createLocks() {
  let held = Promise.resolve();
  return {
    request: (_name: string, { signal }: { signal?: AbortSignal }, use: () => Promise<void>) => {
      const turn = held.then(() => {
        if (signal?.aborted) throw signal.reason;
        return use();
      });
      held = turn.catch(() => undefined);
      return turn;
    },
  };
}

beforeEach(() => {
  sources = [];
  vi.stubGlobal('EventSource', FakeSource);
  onTestFinished(() => void vi.unstubAllGlobals());
});

const settle = () => vi.advanceTimersByTimeAsync(0);

/** Tabs of one browser. Each writes down what happens in it. */
function openTabs(count: number, locks: object | undefined = createLocks()) {
  vi.stubGlobal('navigator', { locks });
  const tabs: { stream: ReturnType<typeof createEventStream>; log: string[] }[] = [];
  for (let index = 0; index < count; index++) {
    const log: string[] = [];
    const post = (message: Message) => {
      for (const other of tabs) if (other.log !== log) other.stream.receive(message);
    };
    const note = (text: string) => log.push(text);
    const onEvent = ({ id }: { readonly id: string }) => note(id);
    const stream = createEventStream({
      channel: { post },
      onEvent,
      onState: note,
      onOpen: () => note('read again'),
    });
    tabs.push({ stream, log });
  }
  const takeLogs = () => tabs.map(({ log }) => log.splice(0).join(', '));
  return { tabs: tabs.map(({ stream }) => stream), takeLogs };
}

it('tabs share the stream of one of them, and another one reads it when that is hidden', async () => {
  const { tabs, takeLogs } = openTabs(3);
  for (const tab of tabs.slice(0, 2)) tab.setVisible(true);
  await settle();
  expect([sources.map(({ url }) => url), takeLogs()]).toEqual([
    ['/v1/events/stream'],
    ['connecting, connecting', 'connecting', ''],
  ]);
  sources[0]?.open();
  sources[0]?.sendPosition();
  sources[0]?.send('one');
  // A hidden tab receives events, too, and holds no stream.
  expect(takeLogs()).toEqual(['open, read again, one', 'shared, one', 'one']);
  tabs[2]?.setVisible(true);
  await settle();
  expect(takeLogs()).toEqual(['', 'shared', 'connecting, shared']);
  sources[0]?.fail(0);
  expect(takeLogs()).toEqual(['connecting', 'connecting', 'connecting']);
  sources[0]?.open();
  takeLogs();
  for (let time = 0; time < 2; time++) tabs[0]?.setVisible(false);
  await settle();
  sources[1]?.open();
  expect(sources.map(({ readyState }) => readyState)).toEqual([FakeSource.CLOSED, 1]);
  expect(takeLogs()).toEqual(['closed', 'connecting, open, read again', 'shared']);
  for (let time = 0; time < 2; time++) tabs[0]?.setVisible(true);
  await settle();
  expect([sources.length, takeLogs()]).toEqual([2, ['connecting, shared', '', 'shared']]);
});

it('a tab that is hidden while it waits for its turn takes none', async () => {
  const { tabs } = openTabs(2);
  for (const tab of tabs) tab.setVisible(true);
  await settle();
  tabs[1]?.setVisible(false);
  tabs[0]?.setVisible(false);
  await settle();
  expect(sources).toHaveLength(1);
  tabs[1]?.setVisible(true);
  await settle();
  expect(sources).toHaveLength(2);
});

it('a tab that reads the stream again does not claim that it is open', async () => {
  const { tabs, takeLogs } = openTabs(2);
  for (const isVisible of [true, false, true]) {
    tabs[0]?.setVisible(isVisible);
    await settle();
    if (sources.length === 1 && isVisible) sources[0]?.open();
  }
  takeLogs();
  tabs[1]?.setVisible(true);
  await settle();
  expect([sources.length, takeLogs()]).toEqual([2, ['', 'connecting, connecting']]);
});

it('every visible tab reads a stream of its own in a browser without locks', async () => {
  const { tabs, takeLogs } = openTabs(2, null as never);
  vi.stubGlobal('navigator', {});
  for (const tab of tabs) tab.setVisible(true);
  for (const source of sources) source.open();
  expect(sources).toHaveLength(2);
  expect(takeLogs().map((log) => log.split(', ').at(-1))).toEqual(['read again', 'read again']);
});

it('a refused stream is asked for again ever later, and an interrupted one by the browser itself', async () => {
  const { tabs, takeLogs } = openTabs(1);
  tabs[0]?.setVisible(true);
  await settle();
  const refuse = async () => {
    const refusedAtMs = Date.now();
    sources.at(-1)?.fail(FakeSource.CLOSED);
    await vi.advanceTimersToNextTimerAsync();
    return Math.round((Date.now() - refusedAtMs) / 1_000);
  };
  const waits: number[] = [];
  for (let refusal = 0; refusal < 6; refusal++) waits.push(await refuse());
  // A tenth is added.
  expect(waits).toEqual([17, 33, 66, 132, 264, 330]);
  expect(sources).toHaveLength(7);
  sources.at(-1)?.open();
  sources.at(-1)?.fail(0);
  expect([vi.getTimerCount(), sources.length]).toEqual([0, 7]);
  takeLogs();
  sources.at(-1)?.open();
  expect(await refuse()).toBe(17);
  expect(takeLogs()).toEqual(['open, read again, connecting, connecting']);
  sources.at(-1)?.fail(FakeSource.CLOSED);
  tabs[0]?.setVisible(false);
  expect(vi.getTimerCount()).toBe(0);
});
