import { expect, it } from 'vitest';
import { rateClasses } from '../../http/routes/rateClasses.ts';
import {
  findOverflows,
  findViolations,
  savePicture,
  useBrowser,
  waitUntilLive,
} from '../support/explorer/browser.ts';
import { startPublicServer } from '../support/http/publicServer.ts';

const { openPage, openLive } = useBrowser();

/** The page of statistics. @returns a chart of it, and what it says. */
async function openStatistics(look: Parameters<typeof openLive>[1] = {}) {
  const server = await startPublicServer();
  const { page } = await openLive(`${server.base}/statistics`, look);
  const findChart = (id: string) => {
    const chart = page.locator(`#chart-${id}`);
    return { chart, read: async () => (await chart.locator('.readout').textContent())?.trim() };
  };
  return { server, page, findChart };
}

const raise = () => {
  throw new Error('the chart has no place');
};

it('a chart says what the pointer points at', async () => {
  const { page, findChart } = await openStatistics();
  const { chart, read } = findChart('work');
  expect(await read()).toBe('');
  const [newest] = await findChart('half-hours').chart.locator('tbody th').allTextContents();
  const plot = chart.locator('.plot');
  const { width } = (await plot.boundingBox()) ?? raise();
  await plot.hover({ position: { x: width - 1, y: 50 } });
  expect(await read()).toMatch(new RegExp(`^${newest}: `));
  expect(await chart.locator('.pointed-cell').count()).toBe(1);
  expect(await findViolations(page)).toEqual([]);
  await page.mouse.move(0, 0);
  expect([await read(), await chart.locator('.pointed-cell').count()]).toEqual(['', 0]);
});

it.each([
  ['work', '.plot', '25 Jan: ', '31 Jan: '],
  ['half-hours', '.strip', ', 12:00–12:30 UTC: ', '11:30–12:00 UTC: '],
])('charts by touch say the tapped value of %s, and keep it', async (id, part, first, last) => {
  const { page, findChart } = await openStatistics({ width: 360, hasTouch: true });
  const { chart, read } = findChart(id);
  const plot = chart.locator(part).first();
  await plot.scrollIntoViewIfNeeded();
  const box = (await plot.boundingBox()) ?? raise();
  // The second one takes the place of the first.
  for (const [share, expected] of [
    [0.01, first],
    [0.99, last],
  ] as const) {
    await page.touchscreen.tap(box.x + share * box.width, box.y + box.height / 2);
    expect(await read()).toContain(expected);
  }
});

it('times are in the visitor’s zone once that is chosen by touch', async () => {
  const look = { width: 360, hasTouch: true, timezoneId: 'Asia/Kolkata' };
  const { server, page, findChart } = await openStatistics(look);
  await page.getByRole('button', { name: 'your time zone' }).tap();
  const { chart, read } = findChart('half-hours');
  const strip = chart.locator('.strip').last();
  const { width } = (await strip.boundingBox()) ?? raise();
  await strip.tap({ position: { x: width - 1, y: 5 } });
  expect(await read()).toMatch(/ \(on .*\), 17:00–17:30 UTC\+5:30: /);
  expect([await findOverflows(page, [360]), await findViolations(page)]).toEqual([[], []]);
  await page.goto(server.base);
  await waitUntilLive(page);
  const foot = page.locator('footer');
  await expect.poll(() => foot.textContent()).toMatch(/:\d\d UTC\+5:30/);
  expect(await foot.textContent()).not.toMatch(/:\d\d UTC(?!\+)/);
  await page.getByRole('button', { name: 'your time zone' }).tap();
  await expect.poll(() => foot.textContent()).toMatch(/:\d\d UTC/);
  expect(await foot.textContent()).not.toMatch(/:\d\d UTC\+5:30/);
});

it('the page on paper is on white, and has nothing to press', async () => {
  const { page } = await openStatistics({ scheme: 'dark' });
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  expect(await page.evaluate("getComputedStyle(document.querySelector('h1')).color")).toBe('rgb(27, 35, 32)');
  for (const part of ['nav', '.liveness', '.choice', '.data > a', '.readout'])
    expect([part, await page.locator(part).first().isVisible()]).toEqual([part, false]);
  await savePicture(page, 'printed-statistics');
});

it('a refused page fits, passes axe, and turns into the page that was meant', async () => {
  const server = await startPublicServer({ rateLimits: true });
  const path = `/owners/0x${'ab'.repeat(20)}`;
  for (let count = 0; count < rateClasses.publicHeavy.burst; count++) await server.get(path);
  const { page, conduct } = await openPage(server.base + path);
  await page.getByRole('heading', { name: 'Too many requests' }).waitFor();
  const title = await page.title();
  await page.context().setOffline(true);
  await page.evaluate("dispatchEvent(new Event('offline'))");
  expect(await page.title()).toBe(title);
  await page.context().setOffline(false);
  expect(await findViolations(page)).toEqual([]);
  expect(await findOverflows(page, [360, 768, 1280])).toEqual([]);
  await savePicture(page, 'refused');
  // It asks for no more than itself.
  const countStreams = () => conduct.requests.filter((url) => url.endsWith('/v1/events/stream')).length;
  expect(countStreams()).toBe(0);
  server.clock.advance(10_000);
  await page.getByRole('heading', { name: /^Owner 0xab/ }).waitFor();
  await expect.poll(countStreams).toBe(1);
});

it('a phone has room for the search hint and one line per link', async () => {
  const server = await startPublicServer();
  const { page } = await openPage(`${server.base}/feed?cursor=x`, { width: 360 });
  await page.getByRole('link', { name: 'To the wheel' }).waitFor();
  expect(
    await page.evaluate(
      "[...document.querySelectorAll('.more a')].map((one) => one.getClientRects().length)",
    ),
  ).toEqual([1, 1]);
  const search = page.getByRole('searchbox');
  await search.fill((await search.getAttribute('placeholder')) ?? '');
  const field = "document.querySelector('[type=search]')";
  expect(await page.evaluate(`${field}.scrollWidth - ${field}.clientWidth`)).toBe(0);
});

it('the reference tries routes out where it is read, whatever the public address is', async () => {
  const server = await startPublicServer({ publicUrl: 'https://wheel.example' });
  const { page, conduct } = await openPage(`${server.base}/docs/reference`);
  await page.locator('.opblock-summary-control').first().click();
  await page.getByRole('button', { name: 'Try it out' }).click();
  await page.getByRole('button', { name: 'Execute' }).click();
  await page.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor();
  expect(conduct.requests.filter((url) => !url.startsWith(server.base))).toEqual([]);
});
