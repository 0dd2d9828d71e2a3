import type { Page, Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { sharedMs } from '../../http/server/pages/pageReads.ts';
import { findViolations, openTab, useBrowser, waitUntilLive } from '../support/explorer/browser.ts';
import { startRecordsServer } from '../support/http/recordsServer.ts';
import { shareInFile } from '../support/processes/lifetime.ts';

const { openWindow, openPage, openLive } = useBrowser();

/** More events than a page of the feed has. */
const startEventful = () => startRecordsServer(90);

const shared = shareInFile(startEventful);

/** The text of a page, without its ages and its clock. */
const readContent = (page: Page): Promise<string> =>
  page.evaluate(`(() => {
    const main = document.querySelector('main').cloneNode(true);
    for (const one of main.querySelectorAll('time, [data-remaining], .when')) one.remove();
    return main.textContent;
  })()`);

const paths = [
  '/',
  '/statistics',
  '/settlements',
  '/owners',
  `/owners/0x${'ab'.repeat(20)}`,
  '/feed',
  '/miners/1',
  '/rounds/1',
  '/search?q=5',
];

/** Each with the pages that are tried. No page knows the kind of a failure, so one kind is tried with all of them. */
const failures: readonly (readonly [string, string, (route: Route) => unknown, readonly string[]])[] = [
  [
    'refuses',
    'The service cannot answer now.',
    (route) => route.fulfill({ status: 503, headers: { 'Retry-After': '1' }, body: '{}' }),
    paths,
  ],
  [
    'is asked too often',
    'The service cannot answer now.',
    (route) => route.fulfill({ status: 429, headers: { 'Retry-After': '1' }, body: '{}' }),
    ['/'],
  ],
  ['is cut off', 'Connection lost.', (route) => route.abort('connectionreset'), ['/', '/feed']],
  ['never answers', 'Connection lost.', () => undefined, ['/', '/feed']],
];

it.each(failures)(
  'a page that cannot be read again because the service %s, is as complete as before, and says: %s',
  async (_, notice, fail, tried) => {
    const { server } = await shared();
    for (const path of tried) {
      const { page, conduct } = await openLive(server.base + path, { isClocked: true });
      const before = await readContent(page);
      let isAway = true;
      await page.route('**', (route) => (isAway ? fail(route) : route.fallback()));
      // A refresh, and the time after which an answer is not waited for any more.
      await page.clock.fastForward(31_000);
      await page.clock.runFor(16_000);
      await page.getByText(notice).waitFor();
      expect([path, await readContent(page)]).toEqual([path, before]);
      if (path === '/') {
        expect(await findViolations(page)).toEqual([]);
        // What a page has not heard is not said of the present.
        expect(await page.locator('#now .when.lost').isVisible()).toBe(notice === 'Connection lost.');
      }
      isAway = false;
      // It waits longer after each failure.
      const saysSo = async () => {
        await page.clock.runFor(20_000);
        return page.getByText(notice).isVisible();
      };
      await expect.poll(saysSo, { timeout: 30_000 }).toBe(false);
      expect([path, conduct.errors]).toEqual([path, []]);
      await page.context().close();
    }
  },
);

describe('a page whose network comes and goes', () => {
  it('says so at once, and asks once when it is back, however long it has waited', async () => {
    const { server } = await shared();
    const { page, conduct } = await openLive(`${server.base}/statistics`, { isClocked: true });
    const tell = (event: string) =>
      page.evaluate(`for (let times = 0; times < 3; times++) dispatchEvent(new Event('${event}'))`);
    const countAsked = () => conduct.requests.filter((url) => url === page.url()).length;
    let isAway = true;
    await page.route('**', (route) => (isAway ? route.abort('internetdisconnected') : route.fallback()));
    const [loaded, title] = [countAsked(), await page.title()];
    await tell('offline');
    await page.getByText('Connection lost.').waitFor();
    expect([countAsked(), await page.title()]).toEqual([loaded, expect.stringMatching(/^Not connected · /)]);
    for (let failures = 1; failures < 4; failures++) {
      await page.clock.fastForward(75_000);
      await expect.poll(countAsked).toBe(loaded + failures);
    }
    isAway = false;
    const before = countAsked();
    await tell('online');
    await waitUntilLive(page);
    await page.clock.runFor(10_000);
    expect([countAsked() - before, await page.title()]).toEqual([1, title]);
    // Its clock is set back.
    await page.clock.setSystemTime(0);
    await page.clock.runFor(2_000);
    await expect.poll(countAsked).toBe(before + 2);
  });

  it('asks once for what happens at the same time, and when its events have been interrupted', async () => {
    const { server } = await shared();
    const context = await openWindow({ isClocked: true });
    await context.addInitScript(`
      globalThis.EventSource = class extends EventTarget {
        constructor() { super(); globalThis.stream = this; }
      };`);
    const { page, conduct } = await openTab(context, `${server.base}/statistics`);
    await waitUntilLive(page);
    const countAsked = () => conduct.requests.filter((url) => url === page.url()).length;
    const countAfter = async (what: string, due: number) => {
      const before = countAsked();
      await page.evaluate(what);
      const askedLater = async () => {
        await page.clock.runFor(1_000);
        return countAsked() - before;
      };
      // It asks only once the answer before has arrived.
      await expect.poll(askedLater, { timeout: 30_000 }).toBe(due);
      await page.clock.runFor(6_000);
      return countAsked() - before;
    };
    const open = 'stream.onopen()';
    const events = `for (const type of document.body.dataset.eventTypes.split(' '))
      for (let times = 0; times < 9; times++) stream.dispatchEvent(new Event(type))`;
    const counts = [await countAfter(open, 0), await countAfter(events, 1)];
    expect([...counts, await countAfter(`${open};${open};${events}`, 1)]).toEqual([0, 1, 1]);
  });
});

it('a page that the browser has kept asks at once how old it is, which a new one does not', async () => {
  const { server } = await shared();
  const { page, conduct } = await openLive(`${server.base}/about`);
  const countAsked = () => conduct.requests.filter((url) => url === page.url()).length;
  expect(countAsked()).toBe(1);
  await page.reload();
  await expect.poll(countAsked).toBe(3);
});

it('a page that is read again keeps what the visitor has focused, opened, typed, selected and pointed at', async () => {
  const { server } = await startEventful();
  const { page } = await openLive(server.base, { isClocked: true });
  await page.locator('#table-today summary').click();
  await page.getByRole('searchbox').fill('half a word');
  await page
    .locator('#chart-today .plot')
    .dispatchEvent('pointerdown', { pointerType: 'touch', clientX: 400 });
  const said = await page.locator('#chart-today .readout').textContent();
  await page.evaluate(`getSelection().selectAllChildren(document.querySelector('#stages'))`);
  await page.evaluate('scrollTo(0, 300)');
  server.views.process = { ...server.views.process, measurement: null };
  server.clock.advance(sharedMs);
  await page.clock.runFor(10_000);
  await page.getByText('The wheel has not reported yet.').waitFor();
  expect(await page.locator('#table-today').getAttribute('open')).toBe('');
  expect(await page.getByRole('searchbox').inputValue()).toBe('half a word');
  expect(await page.locator('#chart-today .readout').textContent()).toBe(said);
  expect(await page.locator('#chart-today .pointed-cell').count()).toBe(1);
  expect(await page.evaluate('[document.activeElement.name, getSelection().toString(), scrollY]')).toEqual([
    'q',
    'From a turn to a token',
    300,
  ]);
  expect(await page.title()).toMatch(/^Unknown/);
});

it('an earlier page of a list has an address, and a way back without script', async () => {
  const { server } = await shared();
  const address = `${server.base}/feed?category=measurement`;
  const { page } = await openPage(address, { isScriptAllowed: false });
  const first = await page.locator('.event').first().getAttribute('id');
  await page.getByRole('link', { name: 'Earlier events' }).click();
  await page.waitForURL(/\/feed\?category=measurement&cursor=/);
  expect(await page.locator('.event').first().getAttribute('id')).not.toBe(first);
  await page.getByRole('link', { name: 'First page' }).click();
  expect(await page.locator('.event').first().getAttribute('id')).toBe(first);
});
