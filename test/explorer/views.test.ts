import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import {
  findOverflow,
  findViolations,
  openPage,
  openWindow,
  picturesFolder,
  savePicture,
  startBrowser,
  waitUntilLive,
} from '../support/explorer/browser.ts';
import { startLocalService } from '../support/explorer/localService.ts';
import { connectReporter } from '../support/explorer/reporter.ts';
import { shareInFile } from '../support/processes/lifetime.ts';

interface Feed {
  readonly events: readonly {
    readonly id: string;
    readonly type: string;
    readonly source: Record<string, string>;
    readonly payload: Record<string, string>;
  }[];
}

const start = shareInFile(async () => {
  const service = await startLocalService(
    {
      MINER_RATE_LIMITS: 'off',
      MINER_TRANSACTION_URL: 'https://chain.example/tx/',
    },
    picturesFolder === null ? undefined : 8,
  );
  const { events } = await service.json<Feed>('/v1/events?category=players');
  const owner = events[0]?.payload.owner as string;
  const paths = {
    glance: '/',
    statistics: '/statistics',
    settlements: '/settlements',
    feed: '/feed',
    owners: '/owners',
    owner: `/owners/${owner}`,
  };
  return { service, browser: await startBrowser(), paths, owner };
});

/** The page asks every five seconds. */
const long = { timeout: 60_000 };

const views = ['glance', 'statistics', 'settlements', 'feed', 'owners', 'owner'] as const;
/** Both themes and both widths; screenshots are of all four. */
const looks = (['light', 'dark'] as const).flatMap((scheme) =>
  [1440, 360]
    .map((width) => ({ scheme, width }))
    .filter(({ width }) => picturesFolder !== null || (scheme === 'light') === (width === 1440)),
);

describe('the explorer on what npm start runs', () => {
  it.each(looks)('has no fault that axe finds, and fits its window, $scheme at $width', async (look) => {
    const { service, browser, paths } = await start();
    const context = await openWindow(browser, look);
    for (const view of views) {
      const { page, conduct } = await openPage(context, `${service.url}${paths[view]}`);
      await waitUntilLive(page);
      if (view === 'owner') await page.locator('#activity').waitFor();
      expect([view, await findViolations(page)]).toEqual([view, []]);
      for (const width of [360, 768, look.width]) {
        await page.setViewportSize({ width, height: 740 });
        expect([view, width, await findOverflow(page)]).toEqual([view, width, 0]);
      }
      expect([view, conduct.errors]).toEqual([view, []]);
      expect(conduct.requests.filter((url) => !url.startsWith(service.url))).toEqual([]);
      await savePicture(page, `${view}-${look.width}-${look.scheme}`);
      await page.close();
    }
    expect(await context.cookies()).toEqual([]);
  });

  it('fits its window at every range of its views', async () => {
    const { service, browser, paths } = await start();
    const context = await openWindow(browser, { scheme: 'light', width: 1280 });
    for (const path of [paths.glance, paths.statistics, paths.settlements])
      for (const range of ['24h', '7d', '30d']) {
        const { page } = await openPage(context, `${service.url}${path}?range=${range}`);
        await waitUntilLive(page);
        for (const width of [360, 768, 1280, 1920]) {
          await page.setViewportSize({ width, height: 740 });
          expect([path, range, width, await findOverflow(page)]).toEqual([path, range, width, 0]);
        }
        await page.close();
      }
  });

  // Pictures for the README, and for previews of shared links.
  if (picturesFolder !== null)
    it('has a picture', async () => {
      const { service, browser } = await start();
      const context = await openWindow(browser, { width: 1200 });
      const { page } = await openPage(context, service.url);
      await waitUntilLive(page);
      await page.setViewportSize({ width: 1200, height: 630 });
      await page.screenshot({ path: join(import.meta.dirname, '../../http/explorer/files/preview.png') });
    });

  it('shows the same figures without script, and says that it does not follow', async () => {
    const { service, browser, paths } = await start();
    const context = await openWindow(browser, { isScriptAllowed: false });
    for (const [view, text] of [
      ['glance', 'From a turn to a token'],
      ['statistics', 'Records of the range'],
      ['settlements', 'Newest batches that completed blocks'],
      ['feed', 'Settling and minting'],
      ['owner', 'Earned on each day'],
    ] as const) {
      const { page } = await openPage(context, `${service.url}${paths[view]}`);
      const main = await page.locator('body').textContent();
      expect(main).toContain(text);
      expect(main).toContain('Without JavaScript');
      expect([view, await findViolationsWithoutScript(page.content())]).toEqual([view, []]);
      await page.close();
    }
    const { page } = await openPage(context, service.url);
    const { issuance } = await service.json<{ issuance: { mintedBaseUnits: string } }>('/v1/mining/state');
    const whole = (BigInt(issuance.mintedBaseUnits) / 10n ** 18n).toLocaleString('en-US');
    expect(await page.locator('.stage.issued').textContent()).toContain(whole);
  });

  it('shows an owner without script: positions, what they earn, and what the owner did, from the same bodies', async () => {
    const { service, browser, owner } = await start();
    const context = await openWindow(browser, { isScriptAllowed: false });
    const { page } = await openPage(context, `${service.url}/owners`);
    await page.getByRole('searchbox').fill(owner);
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('heading', { name: 'Activity' }).waitFor();
    const portfolio = await service.json<{
      positions: readonly { readonly tokenId: string }[];
      earnings: readonly object[];
    }>(`/v1/owners/${owner}/miners`);
    const list = await service.json<{ activity: readonly object[] }>(`/v1/owners/${owner}/activity`);
    expect(portfolio.positions.length).toBeGreaterThan(0);
    const miners = page.locator('section:has(#positions) table tbody tr');
    expect(await miners.locator('td:first-child').allTextContents()).toEqual(
      portfolio.positions.map(({ tokenId }) => `#${tokenId}`),
    );
    expect(await miners.first().locator('a').getAttribute('href')).toBe(
      `/miners/${portfolio.positions[0]?.tokenId}`,
    );
    expect(await page.locator('section:has(#activity) .event').count()).toBe(list.activity.length);
    const figures = await page.locator('section:has(#positions) .figures').textContent();
    for (const label of ['Miners', 'Claimable', 'Earned in 7 days', 'Earned in all'])
      expect(figures).toContain(label);
    await page.locator('section:has(#earnings) summary').click();
    expect(await page.locator('section:has(#earnings) tbody tr').count()).toBe(portfolio.earnings.length);
  });

  it('keeps what the server has rendered in its place when the program takes over', async () => {
    const { service, browser } = await start();
    const context = await openWindow(browser);
    const page = await context.newPage();
    await page.addInitScript(`
      window.shifts = [];
      new PerformanceObserver((list) => {
        for (const { value, sources } of list.getEntries())
          window.shifts.push({ value, moved: sources.map(({ node }) => node?.outerHTML ?? node?.textContent) });
      }).observe({ type: 'layout-shift' });
    `);
    const script = new Promise<Route>((hold) => {
      void page.route('**/explorer*.js', hold);
    });
    await page.goto(service.url, { waitUntil: 'commit' });
    await page.locator('footer').waitFor();
    await page.evaluate('window.shifts.length = 0');
    await (await script).continue();
    await waitUntilLive(page);
    const shifts = await page.evaluate<{ readonly value: number }[]>('window.shifts');
    expect(shifts.filter(({ value }) => value >= 0.002)).toEqual([]);
  });

  it('says of each figure where it is from, with all digits, by mouse and by keyboard', async () => {
    const { service, browser } = await start();
    const { page } = await openPage(await openWindow(browser), service.url);
    await waitUntilLive(page);
    const buttons = page.locator('.figure-button');
    expect(await buttons.count()).toBeGreaterThan(10);
    await page.locator('.stage.issued .figure-button').first().click();
    const about = page.locator('.about:popover-open');
    const { issuance, asset } = await service.json<{
      issuance: { mintedBaseUnits: string };
      asset: { symbol: string };
    }>('/v1/mining/state');
    const text = (await about.textContent()) ?? '';
    expect(text).toContain('/v1/mining/state');
    expect(text).toContain('issuance.mintedBaseUnits');
    expect(text).toContain('Safe block');
    expect(text.replaceAll(',', '')).toContain(`${BigInt(issuance.mintedBaseUnits) / 10n ** 18n}`);
    expect(text).toContain(asset.symbol);
    await page.keyboard.press('Escape');
    expect(await about.count()).toBe(0);
    await buttons.first().focus();
    await page.keyboard.press('Enter');
    expect(await about.textContent()).toContain('measurement.rpmMilli');
  });

  it('has the table behind each chart, and as a file just what the table has', async () => {
    const { service, browser } = await start();
    const { page } = await openPage(await openWindow(browser), `${service.url}/statistics`);
    await waitUntilLive(page);
    const data = page.locator('section:has(#half-hours) .data');
    await data.locator('summary').click();
    const rows = 7 * 48;
    await expect.poll(() => data.locator('tbody tr').count()).toBe(rows);
    const [download] = await Promise.all([page.waitForEvent('download'), data.locator('button').click()]);
    expect(download.suggestedFilename()).toBe('half-hours-7d.csv');
    const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n');
    expect(lines).toHaveLength(rows + 1);
    const { activity } = await service.json<{
      activity: {
        days: {
          date: string;
          buckets: { workUnits: string | null; coverage: string; observedRoundCount: number }[];
        }[];
      };
    }>('/v1/measurement/stats?range=7d');
    const [day] = activity.days;
    const [{ workUnits = null, coverage = '', observedRoundCount = 0 } = {}] = day?.buckets ?? [];
    expect(lines[1]).toBe(`${day?.date},00:00,${workUnits ?? ''},${coverage},${observedRoundCount}`);
  });

  it('says the work per block after each batch, by keyboard', async () => {
    const { service, browser } = await start();
    const { page } = await openPage(await openWindow(browser), `${service.url}/settlements`);
    await waitUntilLive(page);
    const chart = page.locator('section:has(#difficulty)');
    await chart.getByRole('slider').focus();
    await page.keyboard.press('End');
    const { core } = await service.json<{ core: { workPerThousandBlocks: string } }>('/v1/core');
    const work = `${Number(core.workPerThousandBlocks) / 1000}`;
    const readout = (await chart.locator('.readout').textContent()) ?? '';
    expect(readout.replaceAll(',', '')).toContain(`: ${work} work units`);
    expect(await chart.locator('.ticks text').count()).toBeGreaterThan(1);
  });

  it('has a reference page in the visitor’s theme, with a way back', async () => {
    const { service, browser } = await start();
    const context = await openWindow(browser, { scheme: 'dark' });
    const { page } = await openPage(context, `${service.url}/docs/reference`);
    await page.locator('html.dark-mode').waitFor();
    await page.getByRole('link', { name: 'Explorer' }).click();
    await waitUntilLive(page);
  });

  it('changes its view in place, with an address for each, and goes back', async () => {
    const { service, browser, owner } = await start();
    const { page, conduct } = await openPage(await openWindow(browser), service.url);
    await waitUntilLive(page);
    await page.getByRole('link', { name: 'Statistics', exact: true }).click();
    await page.getByRole('heading', { name: 'Records of the range' }).waitFor();
    await page.getByRole('link', { name: '30 days' }).click();
    await page.waitForURL('**/statistics?range=30d');
    await page.locator('.heat tbody tr').nth(29).waitFor();
    await page.getByRole('link', { name: 'Owners', exact: true }).click();
    await page.locator(`a[href="/owners/${owner}"]`).first().click();
    await page.waitForURL(`**/owners/${owner}`);
    await page.getByRole('heading', { name: 'Activity' }).waitFor();
    const name = `Owner ${owner.slice(0, 8)}…${owner.slice(-4)}`;
    expect(await page.locator('h1').textContent()).toBe(name);
    expect(await page.title()).toContain(`${name} · `);
    expect(await page.getByText('press any figure').isVisible()).toBe(true);
    // Amounts keep their unit on their line.
    await page.evaluate(
      "for (const one of document.querySelectorAll('.figure .value')) one.firstChild.data = '4,312.4248'",
    );
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 740 });
      expect([width, await findOverflow(page)]).toEqual([width, 0]);
      const lines =
        "[...document.querySelectorAll('.figure .value')].map((one) => one.getClientRects().length)";
      expect([width, await page.evaluate(lines)]).toEqual([width, [1, 1, 1, 1]]);
    }
    await page.goBack();
    await page.goBack();
    await page.goBack();
    await page.waitForURL('**/statistics');
    await expect.poll(() => page.locator('.heat tbody tr').count()).toBe(7);
    expect(await page.title()).toContain('Statistics');
    // One document: what changed is its content.
    expect(conduct.requests.filter((url) => url.includes('/explorer/explorer.'))).toHaveLength(1);
  });

  it('helps with a checksum that is wrong', async () => {
    const { service, browser, owner } = await start();
    const { page } = await openPage(await openWindow(browser), service.url);
    const letter = /[a-f]/.exec(owner.slice(2))?.[0] as string;
    await page.getByRole('searchbox').fill(`0x${owner.slice(2).replace(letter, letter.toUpperCase())}`);
    await page.keyboard.press('Enter');
    await page.getByText('The checksum is wrong.').waitFor();
    await page.locator(`main a[href="/owners/${owner}"]`).click();
    await page.getByRole('heading', { name: 'Activity' }).waitFor();
    await page.locator('a[href^="https://chain.example/tx/0x"]').first().waitFor();
  });

  it('has a page for each miner, round, block, transaction and event, and a title for each', async () => {
    const { service, browser } = await start();
    const { events } = await service.json<Feed>('/v1/events?category=protocol');
    const settled = events.find(({ type }) => type === 'system.settlement_completed');
    const { settledThroughRound = '', blockHeight = '' } = settled?.payload ?? {};
    const { page, conduct } = await openPage(await openWindow(browser), service.url);
    for (const [query, title, text] of [
      ['#1', 'Miner 1', 'Level'],
      [`round ${settledThroughRound}`, `Round ${settledThroughRound}`, 'are recorded on the chain'],
      [`block ${blockHeight}`, `Block ${blockHeight}`, 'are recorded on the chain'],
      [`block ${settled?.source.blockNumber}`, 'Block', 'are recorded on the chain'],
      [settled?.source.transactionHash, 'Settlement 0x', 'are recorded on the chain'],
      [settled?.id, 'Event', 'cumulativeBlockUnits'],
    ] as const) {
      await page.getByRole('searchbox').fill(query as string);
      await page.getByRole('button', { name: 'Search' }).click();
      await expect.poll(() => page.title()).toMatch(new RegExp(`^${title}`));
      expect(await page.locator('main').textContent()).toContain(text);
      expect([query, await findViolations(page)]).toEqual([query, []]);
      for (const width of [360, 1440]) {
        await page.setViewportSize({ width, height: 740 });
        expect([query, width, await findOverflow(page)]).toEqual([query, width, 0]);
      }
      await savePicture(page, `record-${title.toLowerCase().replaceAll(' ', '-')}`);
    }
    expect(await page.getByText('press any figure').isVisible()).toBe(false);
    expect(conduct.errors).toEqual([]);
    for (const unknown of [
      '/miners/9999',
      `/settlements/0x${'ab'.repeat(32)}`,
      '/events/chain:1:x',
      '/blocks/999999999',
    ])
      expect((await fetch(service.url + unknown)).status).toBe(404);
  });

  it('shows earlier events page by page', async () => {
    const { service, browser } = await start();
    const { page } = await openPage(await openWindow(browser), `${service.url}/feed`);
    await waitUntilLive(page);
    const events = page.locator('.event');
    const before = await events.count();
    await page.getByRole('button', { name: 'Earlier events' }).click();
    await expect.poll(() => events.count()).toBeGreaterThan(before);
  });
});

describe('the explorer, where settlement is in trouble', () => {
  it('says that the oracle is blocked, in its own words, and that it is not any more', async () => {
    const { service, browser } = await start();
    const report = await connectReporter(service.natsUrl);
    const { page } = await openPage(await openWindow(browser, { scheme: 'dark', width: 360 }), service.url);
    await waitUntilLive(page);
    const waiting = page.locator('.waiting');
    await report('oracle', { type: 'blocked', reason: 'the gate is being serviced' });
    await expect
      .poll(() => waiting.textContent(), long)
      .toContain('is blocked: “the gate is being serviced”');
    await expect.poll(() => waiting.textContent(), long).toContain('Blocked. The oracle is blocked.');
    expect(await findViolations(page)).toEqual([]);
    await savePicture(page, 'state-oracle-blocked');
    await report('oracle', { type: 'unblocked' });
    await expect.poll(() => waiting.textContent(), long).not.toMatch(/is blocked/);
  });

  it('says that a batch was reverted, and that its rounds still wait', async () => {
    const { service, browser } = await start();
    const report = await connectReporter(service.natsUrl);
    const { page } = await openPage(await openWindow(browser), service.url);
    await waitUntilLive(page);
    const submissionId = randomUUID();
    const { core } = await service.json<{ core: Record<string, string> }>('/v1/core');
    const settled = BigInt(core.settledThroughRound as string);
    // A round without work changes no sum of the core.
    const { cumulativeWork, cumulativeBlockUnits, workPerThousandBlocks } = core;
    await report('reporter', {
      type: 'submission_prepared',
      submissionId,
      previousSettledThroughRound: String(settled),
      settledThroughRound: String(settled + 1n),
      activeRoundCount: 0,
      expected: { cumulativeWork, cumulativeBlockUnits, workPerThousandBlocks, completedBlockCount: '0' },
    });
    await report('reporter', {
      type: 'submission_submitted',
      submissionId,
      transactionHash: `0x${'ab'.repeat(32)}`,
    });
    // At once: the simulated reporter ends the submissions of others that it finds under way.
    await report('reporter', { type: 'submission_reverted', submissionId });
    const submission = page.locator('.submission');
    await expect.poll(() => submission.textContent(), long).toContain('was reverted by the contract');
    await savePicture(page, 'state-reverted');
    expect(await findViolations(page)).toEqual([]);
  });
});

/** Without script axe cannot run; what it would find most is a heading or a label that is missing. */
async function findViolationsWithoutScript(content: Promise<string>): Promise<string[]> {
  const html = await content;
  const missing = ['<h1', '<main', 'lang="en"', '<title>'].filter((part) => !html.includes(part));
  return html.includes('style="') ? [...missing, 'an inline style, which the policy forbids'] : missing;
}
