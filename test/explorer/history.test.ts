import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { buildChainMembers } from '../support/chain/buildChainMembers.ts';
import { reorganize } from '../support/chain/reorganize.ts';
import { startEconomy } from '../support/chain/testEconomy.ts';
import {
  findViolations,
  openPage,
  openWindow,
  savePicture,
  startBrowser,
  waitUntilLive,
} from '../support/explorer/browser.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { useClickHouseEngine } from '../support/processes/clickHouseEngine.ts';
import { startCuttingProxy } from '../support/processes/cuttingProxy.ts';
import { shareInFile } from '../support/processes/lifetime.ts';
import { minerCommand } from '../support/processes/minerCommand.ts';
import {
  type MinerProcess,
  startMiner,
  waitUntilReady,
  waitUntilStored,
  writeDeployment,
} from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { publishMany } from '../support/readings/readingMessages.ts';

const sharedBrowser = shareInFile(startBrowser);
const engine = useClickHouseEngine();

interface Core {
  readonly core?: { readonly settledThroughRound: string };
}

/** Everything but the status is read once per minute: the page's clock is moved instead. */
const untilNextRead = 61_000;

/** A page whose clock a test moves. */
async function openClockedPage(url: string) {
  const context = await openWindow(await sharedBrowser());
  await context.clock.install();
  const { page } = await openPage(context, url);
  await waitUntilLive(page);
  return page;
}

/** Two batches on a real chain, both safe, and a service that follows it. */
async function startSettled() {
  const economy = await startEconomy();
  const { actions, mine } = economy;
  const settle = (previous: bigint, through: bigint, nonce: bigint) =>
    actions.settle({
      previousSettledThroughRound: previous,
      settledThroughRound: through,
      active: [{ roundId: through, workUnits: 4_000n }],
      nonce,
    });
  const mineBlocks = async (count: number) => {
    for (let block = 0; block < count; block++) await mine();
  };
  await mine(12_000);
  await settle(0n, 5n, 0n);
  await mineBlocks(2);
  await settle(5n, 9n, 1n);
  await mineBlocks(14);
  const nats = await startNats();
  const service = await startMiner({
    natsUrl: nats.url,
    dataDir: temporaryDirectory(),
    onChain: buildChainMembers(economy),
    environment: { MINER_RPC_URL: economy.url },
  });
  await waitUntilReady(service);
  await waitUntilSettled(service, '9');
  return { economy, service, mineBlocks, settleAgain: () => settle(5n, 9n, 1n) };
}

async function waitUntilSettled(service: MinerProcess, round: string) {
  await eventually(
    async () => (await service.json<Core>('/v1/core')).core?.settledThroughRound === round,
    `settled through round ${round}`,
  );
}

describe('the explorer, where history changes', () => {
  it('says what a reorganization has taken back, shows it no more, and is content when it is settled again', async () => {
    const { economy, service, mineBlocks, settleAgain } = await startSettled();
    const page = await openClockedPage(service.publicUrl);
    const settled = page.locator('.stage.settled');
    const event = page.locator('.event', { hasText: 'Rounds 6 to 9' });
    await expect.poll(() => settled.textContent()).toContain('8,000');
    await event.waitFor();

    await reorganize(economy, 15, economy.mine);
    await waitUntilSettled(service, '5');
    const banner = page.locator('.banner', { hasText: 'The chain was reorganized' });
    // More than one read: at the first one the new branch may still be shorter than the old one was.
    const countAgain = async (found: Locator) => {
      await page.clock.fastForward(untilNextRead);
      return found.count();
    };
    await expect.poll(() => countAgain(banner), { timeout: 60_000 }).toBe(1);
    expect(await banner.textContent()).toContain('Rounds 6 to 9 were shown as settled');
    await expect.poll(() => settled.textContent()).toContain('4,000');
    await expect.poll(() => countAgain(event), { timeout: 60_000 }).toBe(0);
    expect(await findViolations(page)).toEqual([]);
    await savePicture(page, 'state-reorganized');

    await settleAgain();
    await mineBlocks(13);
    await waitUntilSettled(service, '9');
    await page.clock.fastForward(untilNextRead);
    await expect.poll(() => settled.textContent()).toContain('8,000');
    expect(await banner.count()).toBe(0);
  });

  it('keeps the statistics that it shows while a replay is taken over, and shows no empty ones in their place', async () => {
    const nats = await startNats();
    const clickhouseUrl = await engine.createDatabase();
    const dataDir = temporaryDirectory();
    const first = await startMiner({ natsUrl: nats.url, dataDir, clickhouseUrl });
    await waitUntilReady(first);
    await publishMany((await connectTo(nats)).connection, 'wheel.one', 0, 2_000);
    await waitUntilStored(first, 2_000);
    await first.end('SIGTERM');
    // A replica that cannot catch up for as long as the test wants, since its messages are held.
    const proxy = await startCuttingProxy(nats.url);
    const replica = await startMiner({
      role: 'serve',
      natsUrl: proxy.url.replace('http:', 'nats:'),
      dataDir,
      clickhouseUrl,
    });
    await waitUntilReady(replica);
    const statisticsUrl = `${replica.publicUrl}/statistics`;
    const page = await openClockedPage(statisticsUrl);
    const work = page.locator('.figure', { hasText: 'Work' }).first();
    await work.waitFor();
    const before = await work.textContent();

    proxy.hold(true);
    const { status, output } = await minerCommand(['replay', '--from-sequence', '1'], {
      MINER_NATS_URL: nats.url,
      MINER_DATA_DIR: temporaryDirectory(),
      MINER_CLICKHOUSE_URL: clickhouseUrl,
      MINER_DEPLOYMENT: writeDeployment(dataDir),
    });
    expect([status, output]).toEqual([0, expect.stringContaining('generation 2 is active')]);
    const answer = () => fetch(`${replica.publicUrl}/v1/measurement/stats?range=7d`);
    await eventually(async () => (await answer()).status === 503, 'statistics that are being rebuilt');
    expect(await (await answer()).json()).toEqual({ error: 'public_stats_rebuilding' });
    await page.clock.fastForward(untilNextRead);
    const notice = page.locator('main .banner', { hasText: 'This is no empty history.' });
    await notice.waitFor();
    expect(await notice.textContent()).toContain('What is shown is from before.');
    expect(await work.textContent()).toBe(before);
    expect(await findViolations(page)).toEqual([]);
    await savePicture(page, 'state-replay');
    const opened = await openClockedPage(statisticsUrl);
    await opened.locator('main .banner', { hasText: 'This is no empty history.' }).waitFor();
    expect(await opened.locator('main .value').count()).toBe(0);

    proxy.hold(false);
    await eventually(async () => (await answer()).ok, 'statistics');
    for (const one of [page, opened]) {
      await one.clock.fastForward(untilNextRead);
      await expect.poll(() => notice.count()).toBe(0);
      await expect.poll(() => one.locator('.figure', { hasText: 'Work' }).first().textContent()).toBe(before);
    }
  });
});
