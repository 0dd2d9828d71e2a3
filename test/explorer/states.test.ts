import { jetstream } from '@nats-io/jetstream';
import { describe, expect, it } from 'vitest';
import type { CounterReadingMessage } from '../../actors/wheel/counterReading.ts';
import { sharedMs } from '../../http/server/pages/pageReads.ts';
import { createEconomyViews, stateOwner } from '../support/chain/economyState.ts';
import { findViolations, savePicture, useBrowser, waitUntilLive } from '../support/explorer/browser.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { shareInFile, temporaryDirectory } from '../support/processes/lifetime.ts';
import { startMiner, waitUntilReady } from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { readingMessage, toPublication } from '../support/readings/readingMessages.ts';

const { openLive } = useBrowser();

/** A real service without a chain, and a wheel that a test moves. */
const start = shareInFile(async () => {
  const nats = await startNats();
  const service = await startMiner({
    natsUrl: nats.url,
    dataDir: temporaryDirectory(),
    // Half an hour ago, so that rounds and half hours have passed.
    startMs: Math.floor(Date.now() / 1_800_000) * 1_800_000 - 3_600_000,
  });
  await waitUntilReady(service);
  const js = jetstream((await connectTo(nats)).connection);
  let index = 0;
  const publish = async (overrides: Partial<CounterReadingMessage>) => {
    const now = new Date().toISOString();
    const reading = readingMessage('wheel.one', index++, { observedAt: now, receivedAt: now, ...overrides });
    const { subject, body } = toPublication(reading);
    await js.publish(subject, body);
  };
  return { url: service.publicUrl, publish };
});

/** Two windows that stay open while the wheel changes, one in each theme and width. */
const followed = shareInFile(async () => {
  const { url } = await start();
  const looks = [
    { scheme: 'light', width: 1440 },
    { scheme: 'dark', width: 360 },
  ] as const;
  return Promise.all(looks.map(async (look) => ({ ...look, ...(await openLive(url, look)) })));
});

describe('the explorer follows the wheel', () => {
  it('says that nothing is known before the first reading: unknown, not zero', async () => {
    const { url } = await start();
    const { page, conduct } = await openLive(url);
    await page.getByRole('heading', { name: 'The wheel has not reported yet.' }).waitFor();
    await expect.poll(() => page.locator('.now .figures .unknown').count()).toBe(3);
    expect(await page.locator('.now .value').count()).toBe(0);
    expect(await page.locator('.lane .unknown').count()).toBe(8);
    expect(await page.locator('.lane.settled').textContent()).toContain('not connected to a chain');
    expect([await findViolations(page), conduct.errors]).toEqual([[], []]);
    await savePicture(page, 'state-unknown');
    // No day was active, and that much is known.
    for (const [path, zeros] of [
      ['/statistics', 1],
      ['/settlements', 0],
      ['/feed', 0],
    ] as const) {
      await page.goto(`${url}${path}`);
      await waitUntilLive(page);
      expect([path, await findViolations(page)]).toEqual([path, []]);
      expect([path, await page.locator('.value', { hasText: /^0$/ }).count()]).toEqual([path, zeros]);
    }
  });

  it.each([
    ['The wheel is turning.', 'wheel-turning', { rpmMilli: 42_150, speedMmPerSecond: 700 }],
    ['The wheel is resting.', 'wheel-resting', { rpmMilli: 0, speedMmPerSecond: 0 }],
    ['The counter reports a fault.', 'wheel-fault', { coreStatus: 'COUNTER_FAULT', rpmMilli: 0 }],
    // Received long ago: the newest one that was received.
    [
      'The wheel is out of touch.',
      'wheel-stale',
      { receivedAt: new Date(Date.now() - 200_000).toISOString() },
    ],
  ] as const)('%s', async (sentence, icon, reading) => {
    const { publish } = await start();
    const windows = await followed();
    await publish(reading);
    for (const { page, conduct, scheme, width } of windows) {
      // By itself: nobody has loaded the page again.
      await page.getByRole('heading', { name: sentence }).waitFor();
      await expect.poll(() => page.locator('#icon').getAttribute('href')).toContain(icon);
      expect([await findViolations(page), conduct.errors]).toEqual([[], []]);
      await savePicture(page, `state-${icon}-${width}-${scheme}`);
      if (icon === 'wheel-turning')
        await expect.poll(() => page.locator('.now .figures').textContent()).toContain('42.2\u00a0rpm');
    }
  });
});

it('the explorer shows an unreadable chain with its date on every page', async () => {
  const { views, clock } = createEconomyViews();
  const server = await startPublicServer({ chain: views });
  const { page } = await openLive(server.base, { isClocked: true });
  const read = () => page.locator('.lane.issued .figures').textContent();
  const before = await read();
  expect(before).toContain('SQK');
  expect(await page.locator('.banner:visible').count()).toBe(0);
  clock.advance(120_001);
  server.clock.advance(sharedMs);
  const banner = page.getByText('A local test chain is no longer read');
  const readAgain = async () => {
    await page.clock.fastForward(10_000);
    return banner.count();
  };
  await expect.poll(readAgain, { timeout: 60_000 }).toBe(1);
  expect(await read()).toBe(before);
  await savePicture(page, 'state-chain-away');
  expect(await findViolations(page)).toEqual([]);
  // Routes keep to their contract.
  expect(await (await server.get('/v1/core')).json()).toMatchObject({ reason: 'indexer_unavailable' });
  for (const path of [
    '/',
    '/settlements',
    `/owners/${stateOwner}`,
    '/feed',
    '/owners',
    '/miners/1',
    '/rounds/2',
    `/transactions/0x${'aa'.repeat(32)}`,
  ]) {
    const html = await (await server.get(path)).text();
    expect([path, html.split('is no longer read').length - 1]).toEqual([path, 1]);
    expect([path, html.includes('cannot be read at the moment')]).toEqual([path, false]);
  }
  const statistics = await (await server.get('/statistics')).text();
  expect(statistics).toContain('is no longer read');
});
