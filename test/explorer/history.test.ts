import { describe, expect, it } from 'vitest';
import type { ChainState } from '../../actors/chain/state/chainState.ts';
import { sharedMs } from '../../http/server/pages/pageReads.ts';
import { buildEconomyEvents, buildState, createStateViews } from '../support/chain/economyState.ts';
import { findViolations, savePicture, useBrowser } from '../support/explorer/browser.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { useClickHouseEngine } from '../support/processes/clickHouseEngine.ts';
import { startCuttingProxy } from '../support/processes/cuttingProxy.ts';
import { eventually, temporaryDirectory } from '../support/processes/lifetime.ts';
import { minerCommand } from '../support/processes/minerCommand.ts';
import {
  startMiner,
  waitUntilFolded,
  waitUntilReady,
  writeDeployment,
} from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { publishMany } from '../support/readings/readingMessages.ts';

const { openLive } = useBrowser();
const engine = useClickHouseEngine();

describe('the explorer, where history changes', () => {
  it('says what a reorganization has taken back, until it is settled again', async () => {
    const settle = (settledRound: bigint, work: bigint, number: bigint) =>
      buildState(buildEconomyEvents({ settledRound, processedRound: 4n, work }), { number });
    const { views, source } = createStateViews(settle(9n, 8_000n, 100n));
    const server = await startPublicServer({ chain: views });
    const { page } = await openLive(server.base, { isClocked: true });
    const settled = page.locator('.lane.settled');
    await expect.poll(() => settled.textContent()).toContain('8,000');

    const change = (state: ChainState) => {
      source.state = state;
      server.clock.advance(sharedMs);
    };
    change(settle(5n, 4_000n, 101n));
    await page.clock.fastForward(31_000);
    const banner = page.locator('.banner', { hasText: 'The chain was reorganized' });
    await banner.waitFor();
    expect(await banner.textContent()).toContain('Rounds 6 to 9 are no longer settled');
    await expect.poll(() => settled.textContent()).toContain('4,000');
    expect(await findViolations(page)).toEqual([]);
    await savePicture(page, 'state-reorganized');

    change(settle(9n, 8_000n, 102n));
    await page.clock.fastForward(31_000);
    await expect.poll(() => settled.textContent()).toContain('8,000');
    await banner.waitFor({ state: 'hidden' });
  });

  it('keeps statistics shown while a replay is taken over', async () => {
    const nats = await startNats();
    const clickhouseUrl = await engine.createDatabase();
    const dataDir = temporaryDirectory();
    const first = await startMiner({ natsUrl: nats.url, dataDir, clickhouseUrl });
    await waitUntilReady(first);
    await publishMany((await connectTo(nats)).connection, 'wheel.one', 0, 2_000);
    await waitUntilFolded(first, 2_000);
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
    const readPage = async () => (await fetch(`${replica.publicUrl}/statistics`)).text();
    const notice = /Statistics cannot be read at the moment.*last read: <time/s;
    expect(await readPage()).not.toMatch(notice);
    proxy.hold(true);
    const { status, output } = await minerCommand(['replay', '--from-sequence', '1'], {
      MINER_NATS_URL: nats.url,
      MINER_DATA_DIR: temporaryDirectory(),
      MINER_CLICKHOUSE_URL: clickhouseUrl,
      MINER_DEPLOYMENT: writeDeployment(dataDir),
    });
    expect([status, output]).toEqual([0, expect.stringContaining('the result is complete')]);
    await startMiner({ role: 'ingest', natsUrl: nats.url, dataDir: temporaryDirectory(), clickhouseUrl });
    const answer = () => fetch(`${replica.publicUrl}/v1/measurement/stats?range=7d`);
    await eventually(async () => (await answer()).status === 503, 'statistics that are being rebuilt');
    expect(await (await answer()).json()).toEqual({ error: 'public_stats_rebuilding' });
    await eventually(async () => notice.test(await readPage()), 'the page that was read before');
    proxy.hold(false);
    await eventually(async () => (await answer()).ok, 'statistics');
    await eventually(async () => !notice.test(await readPage()), 'the page of today');
  });
});
