import type { Logger } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Clock } from '../../actors/clock.ts';
import { routes } from '../../http/routes/routes.ts';
import { createExchangeGuard } from '../../http/server/answers/exchangeGuard.ts';
import { createEconomyViews, stateOwner } from '../support/chain/economyState.ts';
import { buildFeedEvent, replaceFeed } from '../support/chain/feedOfEvents.ts';
import { collectLines } from '../support/collectLines.ts';
import { examplePath } from '../support/http/examplePath.ts';
import { expectError } from '../support/http/expectError.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { manualClock } from '../support/manualClock.ts';
import { shareInFile } from '../support/processes/lifetime.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';

const unavailable = { status: 'unavailable', reason: 'indexer_unavailable' };

beforeEach(() => void vi.stubEnv('NODE_ENV', 'production'));
afterEach(() => void vi.unstubAllEnvs());

const refusing = shareInFile(async () => {
  const log = collectLines();
  return { ...log, server: await startPublicServer({ installationId: 'not an ID', logger: log.logger }) };
});

describe('a body that its schema refuses, in production', () => {
  it.each(routes.map((route) => [route.path, examplePath(route)] as const))(
    'never leaves %s',
    async (path, example) => {
      const { lines, server } = await refusing();
      // The installation of the path is shown as the client wrote it.
      const isEchoed = path.includes('{installationId}');
      for (let request = 0; request < 3; request++) {
        const response = await server.get(example);
        if (isEchoed) expect(response.status).toBe(200);
        else await expectError(response, 500, 'internal_error');
      }
      const own = lines.filter(({ route }) => route === path);
      expect(own.map(({ err }) => /installationId/.test(err.message))).toEqual(isEchoed ? [] : [true]);
    },
  );

  it('is 500 on the process snapshot and the status, until the view changes', async () => {
    const { lines, logger } = collectLines();
    const server = await startPublicServer({ logger });
    const { process } = server.views;
    server.views.process = { ...process, builder: { status: 'unavailable', reason: 'secret' as never } };
    for (const path of ['/v4/public/process', '/v1/status']) {
      for (let request = 0; request < 5; request++) {
        const response = await server.get(path, { 'If-None-Match': '*' });
        await expectError(response, 500, 'internal_error');
      }
    }
    expect(lines).toHaveLength(2);
    expect(lines[0]?.err.message).toMatch(/builder/);
    expect(await server.registry.metrics()).toContain('miner_http_failures_total{route="/v1/status"} 5');
    // An alert sees a counter rise, not appear.
    expect(await server.registry.metrics()).toContain('miner_http_failures_total{route="/v1/core"} 0');
    server.views.process = process;
    expect((await server.get('/v1/status')).status).toBe(200);
  });

  it('is unavailable on the routes of the chain, which have a reason for it', async () => {
    const { lines, logger } = collectLines();
    // More is minted than may be: what is left is below zero.
    const { views } = createEconomyViews({ supplyCap: 100n, minted: 250n, supply: 250n });
    const server = await startPublicServer({ chain: views, logger });
    const settlements = ['/v1/settlements', '/v4/public/settlements'];
    const asked = ['/v1/mining/state', '/v2/public/miners/state', ...settlements];
    for (let request = 0; request < 4; request++) {
      for (const path of asked) {
        const response = await server.get(path);
        expect([path, response.status, await response.json()]).toMatchObject([path, 200, unavailable]);
        if (path.endsWith('settlements'))
          expect(response.headers.get('x-miner-settlement-source')).toBe('unavailable');
      }
    }
    expect(lines.map(({ route }) => route).sort()).toEqual([...asked].sort());
    const queue = await (await server.get('/v4/public/settlements?queue=1')).json();
    expect(queue).toMatchObject({ status: 'unavailable', settlementQueue: { status: 'unavailable' } });
    // What can be shown is shown.
    for (const path of ['/v1/core', `/v1/owners/${stateOwner}/miners`])
      expect(await (await server.get(path)).json()).toMatchObject({ status: 'available' });
  });

  it('is unavailable where a view of the chain cannot be computed at all', async () => {
    const { lines, logger } = collectLines();
    const { views } = createEconomyViews();
    const fail = (): never => {
      throw new Error('the chain cannot be read');
    };
    const server = await startPublicServer({ chain: { ...views, core: fail, portfolio: fail }, logger });
    for (let request = 0; request < 3; request++) {
      for (const path of [
        `/v1/owners/${stateOwner}/miners`,
        `/v2/public/miners/portfolio?owner=${stateOwner}`,
        '/v1/core',
      ]) {
        const body = await (await server.get(path)).json();
        expect(body).toMatchObject(unavailable);
      }
    }
    expect(lines.length).toBe(3);
  });

  it('is replaced for no longer than it fails, even if nothing that it shows changes', async () => {
    const { views } = createEconomyViews();
    const miners = vi.fn(views.miners).mockImplementationOnce(() => {
      throw new Error('the miners cannot be read yet');
    });
    const { get } = await startPublicServer({ chain: { ...views, miners }, logger: collectLines().logger });
    expect(await (await get('/v1/miners')).json()).toMatchObject(unavailable);
    expect(await (await get('/v1/miners')).json()).toMatchObject({ status: 'available' });
  });

  it('is 500 for observations, and the unavailable body for the feed', async () => {
    const { lines, logger } = collectLines();
    const reading = acceptedReading({ position: 3, cumulativeWorkUnits: -1n });
    const merged = {
      type: 'player.miners_merged',
      owner: stateOwner,
      survivorTokenId: 1n,
      donorTokenId: 2n,
      level: 11,
      nextMergeBlock: 1n,
      effectiveRound: 1n,
    } as const;
    const chain = replaceFeed(createEconomyViews().views, [buildFeedEvent(merged)]);
    const server = await startPublicServer({
      logger,
      chain,
      observations: { page: () => ({ items: [reading], more: false }) },
    });
    const observations = '/v1/public/installations/wheel-1/observations';
    const feeds = ['/v1/events', '/v2/public/events'];
    for (let round = 0; round < 2; round++) {
      expect((await server.get(observations)).status).toBe(500);
      for (const path of feeds) expect(await (await server.get(path)).json()).toMatchObject(unavailable);
    }
    expect(lines.map(({ route }) => route)).toHaveLength(3);
  });
});

describe('the log of failures', () => {
  function createNote(logger: Logger, clock: Clock) {
    const { note } = createExchangeGuard({ writeError: () => undefined }, logger, clock);
    const counts = { answered: () => undefined, failed: () => undefined };
    return (reason: string, route: string, requestId: string) =>
      note({ route, requestId, counts }, new Error(reason));
  }

  it('logs each reason once a minute, and each request at a finer level', () => {
    const clock = manualClock();
    const { lines, logger } = collectLines('debug');
    const note = createNote(logger, clock);
    note('one', '/v1/core', 'request-1');
    note('one', '/v1/core', 'request-2');
    note('two', '/v1/core', 'request-3');
    note('one', '/v1/status', 'request-4');
    clock.advance(59_999);
    note('one', '/v1/core', 'request-5');
    clock.advance(1);
    note('one', '/v1/core', 'request-6');
    const said = lines.map(({ msg, requestId }) => [msg, requestId]);
    const [first, again] = ['request failed', 'request failed for the same reason'];
    expect(said).toEqual([
      [first, 'request-1'],
      [again, 'request-2'],
      [first, 'request-3'],
      [first, 'request-4'],
      [again, 'request-5'],
      [first, 'request-6'],
    ]);
  });

  it('remembers a bounded number of reasons', () => {
    const { lines, logger } = collectLines();
    const note = createNote(logger, manualClock());
    const logReason = (reason: number) => {
      note(`reason ${reason}`, '/v1/core', 'request-1');
      return lines.length;
    };
    for (let reason = 1; reason <= 256; reason++) expect(logReason(reason)).toBe(reason);
    expect([logReason(1), logReason(257), logReason(1)]).toEqual([256, 257, 258]);
  });
});
