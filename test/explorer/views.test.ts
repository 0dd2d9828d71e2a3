import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { Route } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { oracleSubject } from '../../actors/messages/subjects.ts';
import { closeNats } from '../../streams/nats/jetStreamPort.ts';
import { readNatsAccess } from '../../streams/nats/natsAccess.ts';
import {
  findOverflows,
  findViolations,
  openTab,
  picturesFolder,
  savePicture,
  useBrowser,
  waitUntilLive,
} from '../support/explorer/browser.ts';
import { startLocalService } from '../support/explorer/localService.ts';
import { shareInFile } from '../support/processes/lifetime.ts';

interface Feed {
  readonly events: readonly {
    readonly id: string;
    readonly type: string;
    readonly source: Record<string, string>;
    readonly payload: Record<string, string>;
  }[];
}

const { openWindow, openPage, openLive } = useBrowser();

const start = shareInFile(async () => {
  const service = await startLocalService(
    { MINER_RATE_LIMITS: 'off' },
    picturesFolder === null ? undefined : 8,
  );
  const { events } = await service.json<Feed>('/v1/events?category=players');
  const owner = events[0]?.payload.owner as string;
  const paths = {
    glance: '/',
    statistics: '/statistics',
    settlements: '/settlements',
    month: '/statistics?range=30d',
    ...{ now: '/settlements?range=now', day: '/settlements?range=24h', days: '/settlements?range=30d' },
    feed: '/feed',
    owners: '/owners',
    status: '/status',
    about: '/about',
    owner: `/owners/${owner}`,
    miner: '/miners/1',
    pinned: `/?owner=${owner}`,
  };
  return { service, paths, owner };
});

/** Both themes and both widths; screenshots are of all four. */
const looks = (['light', 'dark'] as const).flatMap((scheme) =>
  [1440, 360]
    .map((width) => ({ scheme, width }))
    .filter(({ width }) => picturesFolder !== null || (scheme === 'light') === (width === 1440)),
);

describe('the explorer on what npm start runs', () => {
  it.each(looks)('has no fault that axe finds, and fits its window, $scheme at $width', async (look) => {
    const { service, paths } = await start();
    const context = await openWindow(look);
    for (const [view, path] of Object.entries(paths)) {
      const { page, conduct } = await openTab(context, service.url + path);
      await waitUntilLive(page);
      if (view === 'owner') await page.locator('#activity').waitFor();
      expect([view, await findViolations(page)]).toEqual([view, []]);
      if (view === 'pinned') {
        const again = page.waitForResponse(service.url + paths.pinned);
        await page.evaluate("dispatchEvent(new Event('online'))");
        await (await again).finished();
        await page.getByText('For you').first().waitFor();
      }
      // Whether a page fits does not depend on its theme.
      const widths = look.scheme === 'light' ? [320, 360, 768, look.width] : [look.width];
      expect([view, await findOverflows(page, widths)]).toEqual([view, []]);
      expect([view, conduct.errors]).toEqual([view, []]);
      expect(conduct.requests.filter((url) => !url.startsWith(service.url))).toEqual([]);
      await savePicture(page, `${view}-${look.width}-${look.scheme}`);
      await page.close();
    }
    expect(await context.cookies()).toEqual([]);
  });

  // Pictures for the README, and for previews of shared links. Previews stay for years, so theirs has no figures.
  if (picturesFolder !== null)
    it('has pictures', async () => {
      const folder = join(import.meta.dirname, '../../http/explorer');
      const { service } = await start();
      const { page } = await openLive(service.url, { width: 1200 });
      await page.setViewportSize({ width: 1200, height: 630 });
      await page.screenshot({ path: join(folder, 'screenshot.png') });
      await page.goto(pathToFileURL(join(folder, 'preview.svg')).href);
      await page.screenshot({ path: join(folder, 'files/preview.png') });
    });

  it('finds an owner without script, and opens its tables', async () => {
    const { service, owner } = await start();
    const { page } = await openPage(`${service.url}/owners`, { isScriptAllowed: false });
    await page.getByRole('searchbox').fill(owner);
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('heading', { name: 'Activity' }).waitFor();
    await page.locator('section:has(#earnings) summary').click();
    await page.locator('section:has(#earnings) tbody tr').first().waitFor();
    await page.getByRole('link', { name: 'Show on the first page' }).click();
    expect(await page.locator('.lane', { hasText: /For you \+|Paid to you/ }).count()).toBe(4);
    await page.getByRole('link', { name: 'Remove' }).click();
    expect(await page.locator('.lane', { hasText: 'you' }).count()).toBe(0);
  });

  it('keeps what the server has rendered in its place when the program takes over', async () => {
    const { service } = await start();
    const page = await (await openWindow()).newPage();
    await page.addInitScript(`
      window.shifts = [];
      new PerformanceObserver((list) => {
        for (const { value, sources } of list.getEntries())
          window.shifts.push({ value, moved: sources.map(({ node }) => node?.outerHTML ?? node?.textContent) });
      }).observe({ type: 'layout-shift' });
    `);
    const script = new Promise<Route>((hold) => {
      void page.route('**/page*.js', hold);
    });
    await page.goto(service.url, { waitUntil: 'commit' });
    await page.locator('footer').waitFor();
    await page.evaluate('window.shifts.length = 0');
    await (await script).continue();
    await waitUntilLive(page);
    const shifts = await page.evaluate<{ readonly value: number }[]>('window.shifts');
    expect(shifts.filter(({ value }) => value >= 0.002)).toEqual([]);
  });

  it('says where each figure is from', async () => {
    const { service } = await start();
    const { page } = await openLive(service.url);
    const minted = page.locator('#sources tr', { hasText: 'issuance.mintedBaseUnits' });
    expect(await minted.isVisible()).toBe(false);
    await page.getByText('Sources of this page').focus();
    await page.keyboard.press('Enter');
    expect(await minted.textContent()).toMatch(/^Minted[\d,.]+ SQK.*\/v1\/mining\/state/);
    // As many rows as figures.
    expect(await page.locator('#sources tbody tr').count()).toBe(await page.locator('.figure').count());
  });

  it('has the table behind each chart, also as a file', async () => {
    const { service } = await start();
    /** Half hours of six days and of the universal day, which begins at noon, that have begun. */
    const countBegun = () => 6 * 48 + 1 + (Math.floor(Date.now() / 1_800_000 - 24) % 48);
    const begun = countBegun();
    const { page } = await openLive(`${service.url}/statistics`);
    const data = page.locator('section:has(#half-hours) .data');
    await data.locator('summary').click();
    const rows = await data.locator('tbody tr').count();
    // Half hours that are still to come are not in it.
    expect([begun, countBegun()]).toContain(rows);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      data.getByRole('link', { name: 'CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^wheel\.local-half-hours-[\d-]{10}-to-[\d-]{10}\.csv$/);
    const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n');
    // A half hour may have ended since.
    expect([rows + 1, rows + 2]).toContain(lines.length);
    expect(lines[1]).toMatch(/^([\d-]{10}),\1T12:00:00Z,\1T12:30:00Z,/);
  });

  it('has a reference in the frame of the pages, in the theme', async () => {
    const { service } = await start();
    const look = { scheme: 'dark', width: 360 } as const;
    const { page, conduct } = await openPage(`${service.url}/docs/reference`, look);
    await page.locator('html.dark-mode').waitFor();
    await page.locator('.opblock').first().waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.locator('.opblock-summary-control').nth(4).click();
    await page.locator('.opblock-body .response').first().waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(await page.getByText('jsonSchemaDialect').count()).toBe(0);
    expect(await findOverflows(page, [320, 360, 768, 1280])).toEqual([]);
    await savePicture(page, 'reference');
    expect(conduct.errors).toEqual([]);
    await page.getByRole('link', { name: 'At a glance' }).click();
    await waitUntilLive(page);
  });

  it('has an address for each view, and goes back', async () => {
    const { service, owner } = await start();
    const { page, conduct } = await openLive(service.url);
    await page.getByRole('link', { name: 'Statistics', exact: true }).click();
    await page.getByRole('heading', { name: 'Records of the range' }).waitFor();
    await page.getByRole('link', { name: '30 days' }).click();
    await page.waitForURL('**/statistics?range=30d');
    await page.locator('.heat tbody tr').nth(29).waitFor();
    await page.getByRole('link', { name: 'Owners', exact: true }).click();
    await page.getByRole('link', { name: 'what owners did last' }).click();
    await page.locator(`a[href="/owners/${owner}"]`).first().click();
    await page.waitForURL(`**/owners/${owner}`);
    await page.getByRole('heading', { name: 'Activity' }).waitFor();
    const name = `Owner ${owner.slice(0, 8)}…${owner.slice(-4)}`;
    expect(await page.locator('h1').textContent()).toBe(name);
    await page.locator('.lead .hash').click();
    expect(await page.evaluate('getSelection().toString()')).toBe(owner);
    expect(await page.title()).toContain(`${name} · `);
    // Amounts keep their unit on their line.
    await page.evaluate(
      "for (const one of document.querySelectorAll('.figure .value')) one.firstChild.data = '4,312.4248'",
    );
    for (const width of [390, 1280]) {
      expect(await findOverflows(page, [width])).toEqual([]);
      const lines =
        "[...document.querySelectorAll('.figure .value')].map((one) => Math.round(one.offsetHeight / parseFloat(getComputedStyle(one).lineHeight)))";
      expect([width, await page.evaluate(lines)]).toEqual([width, [1, 1, 1, 1]]);
    }
    for (let steps = 0; steps < 4; steps++) await page.goBack();
    await page.waitForURL('**/statistics');
    await expect.poll(() => page.locator('.heat tbody tr').count()).toBe(7);
    expect(await page.title()).toContain('Statistics');
    expect(conduct.errors).toEqual([]);
  });

  it('has a page for each miner, round, transaction and day', async () => {
    const { service } = await start();
    const { events } = await service.json<Feed>('/v1/events?category=protocol');
    const settled = events.find(({ type }) => type === 'system.settlement_completed');
    if (settled === undefined) throw new Error('nothing is settled');
    const { page, conduct } = await openPage(service.url);
    for (const [query, title] of [
      ['#1', 'Miner 1'],
      [`round ${settled.payload.settledThroughRound}`, 'Round'],
      [settled.source.transactionHash, 'Transaction 0x'],
      ['yesterday', 'Day of'],
      [settled.id, 'Transaction 0x'],
    ] as const) {
      await page.getByRole('searchbox').fill(query as string);
      await page.getByRole('button', { name: 'Search' }).click();
      await expect.poll(() => page.title()).toMatch(new RegExp(`^${title}`));
      expect([query, await findViolations(page)]).toEqual([query, []]);
      expect([query, await findOverflows(page, [320, 360, 1440])]).toEqual([query, []]);
      await savePicture(page, `record-${title.toLowerCase().replaceAll(' ', '-')}`);
    }
    expect(conduct.errors).toEqual([]);
  });
});

it('the explorer says while the oracle is blocked, in its own words', async () => {
  const { service } = await start();
  const report = await connectOracle(service.natsUrl);
  const { page } = await openLive(service.url, { scheme: 'dark', width: 360 });
  // The page asks every five seconds.
  const said = () => expect.poll(() => page.locator('header').textContent(), { timeout: 60_000 });
  await report({ type: 'blocked', reason: 'the gate is being serviced' });
  await said().toContain('The oracle is blocked. It says: “the gate is being serviced”.');
  await said().toContain('Settlement is blocked. The oracle is blocked.');
  expect(await findViolations(page)).toEqual([]);
  await savePicture(page, 'state-oracle-blocked');
  await report({ type: 'unblocked' });
  await said().not.toMatch(/is blocked/);
});

/** Publishes messages as the local installation's oracle. */
async function connectOracle(natsUrl: string) {
  const connection = await connect(readNatsAccess({ url: natsUrl }));
  onTestFinished(() => closeNats(connection));
  return (message: object) =>
    jetstream(connection).publish(
      oracleSubject('wheel.local'),
      JSON.stringify({ at: new Date().toISOString(), ...message }),
    );
}
