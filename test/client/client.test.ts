import { describe, expect, it } from 'vitest';
import { type Client, createClient, formatUnits, ServiceError } from '../../http/client/index.ts';
import { chainlessViews } from '../support/chain/chainlessViews.ts';
import { startChainWithHistory } from '../support/chain/chainWithHistory.ts';
import { recordStep } from '../support/chain/feedEvents.ts';
import { reorganize } from '../support/chain/reorganize.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { startCuttingProxy } from '../support/processes/cuttingProxy.ts';
import { shareInFile, whenFinished } from '../support/processes/lifetime.ts';
import { createSpeedRecords } from '../support/readings/speedRecords.ts';

const sharedWorld = shareInFile(() => startChainWithHistory({ seed: 7, steps: 40 }));

async function start() {
  const { economy, chain, random } = await sharedWorld();
  const records = createSpeedRecords();
  const server = await startPublicServer({ chain: chain.views, progress: records.progress });
  const connectTo = (baseUrl: string) => createClient({ baseUrl, firstDelayMs: 1 });
  return { economy, chain, random, records, server, connectTo, client: connectTo(server.base) };
}

/** Ends with the test. */
function createSignal(): AbortSignal {
  const ending = new AbortController();
  whenFinished(() => ending.abort());
  return ending.signal;
}

describe('a request', () => {
  it('returns decimals as bigints, and what is unavailable as such', async () => {
    const { client } = await start();
    const history = await client.get('/v1/settlements', { range: 'now' });
    if (history.status === 'unavailable') throw new Error(history.reason);
    expect(history.summary.settlementCount).toBeGreaterThan(0n);
    expect(history.recentSettlements.map(({ cumulativeWork }) => typeof cumulativeWork)).toContain('bigint');
    const { builder, oracle } = await client.get('/v4/public/process', {});
    expect([builder.status, oracle.latestClosure]).toEqual(['unavailable', null]);
    expect(formatUnits(1_500_000_000_000_000_000n, 18)).toBe('1.5');
    expect([formatUnits(0n, 18), formatUnits(7n, 0), formatUnits(1n, 2)]).toEqual(['0', '7', '0.01']);
  });

  it('says what is wrong with it, once', async () => {
    const { client, server } = await start();
    const refused = client.get('/v1/owners/{address}/miners', { address: 'a/b?c' });
    await expect(refused).rejects.toThrow(ServiceError);
    await expect(refused).rejects.toMatchObject({ status: 400, code: 'invalid_address', retryAfterMs: null });
    const counted = await server.registry.getSingleMetricAsString('miner_http_requests_total');
    expect(counted).toContain('{route="/v1/owners/{address}/miners",status="400"} 1');
  });

  it('without its parameter, or a client without a whole address, is refused at once', async () => {
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', firstDelayMs: 30_000 });
    const asked = client.get('/v1/owners/{address}/miners', {} as { address: string });
    await expect(asked).rejects.toThrow('the parameter address is missing');
    for (const baseUrl of ['', 'miner.example', 'localhost:8080'])
      expect(() => createClient({ baseUrl })).toThrow(`baseUrl is '${baseUrl}'`);
  });

  it('is repeated after as long as the service asks for, and ends with its signal', async () => {
    const { client, server } = await start();
    server.hasViews = false;
    const answered = client.get('/v4/public/process', {});
    const ending = new AbortController();
    const given = client.get('/v4/public/process', {}, { signal: ending.signal });
    const counted = () => server.registry.getSingleMetricAsString('miner_http_requests_total');
    await eventually(async () => (await counted()).includes('status="503"} 2'), 'two refusals');
    ending.abort(new Error('given up'));
    await expect(given).rejects.toThrow('given up');
    server.hasViews = true;
    expect(await answered).toHaveProperty('schemaVersion', 4);
    expect(await counted()).toContain('{route="/v4/public/process",status="200"} 1');
  });
});

it('polling gives each state once, and transfers nothing while there is no other', async () => {
  const { client, server } = await start();
  const states = client.poll('/v4/public/process', {}, { intervalMs: 5, signal: createSignal() });
  expect((await states.next()).value).toHaveProperty('revision', 'revision-1');
  const counted = () => server.registry.getSingleMetricAsString('miner_http_requests_total');
  const next = states.next();
  await eventually(async () => (await counted()).includes('status="304"} 3'), 'three questions');
  server.views.process = { ...server.views.process, revision: 'revision-2' };
  expect((await next).value).toHaveProperty('revision', 'revision-2');
  expect(await counted()).toContain('status="200"} 2');
});

describe('pages', () => {
  async function listTokens(client: Client, owner: string, onPage: () => Promise<void> = async () => {}) {
    let tokens: bigint[] = [];
    let restarts = 0;
    for await (const { body, isRestart } of client.pages('/v1/owners/{address}/miners', {
      address: owner,
      limit: 1,
    })) {
      if (body.status === 'unavailable') throw new Error(body.reason);
      if (isRestart) tokens = [];
      restarts += isRestart ? 1 : 0;
      tokens.push(...body.positions.map(({ tokenId }) => tokenId));
      await onPage();
    }
    return { tokens, restarts };
  }

  it('are all of a list, and begin again where its state goes meanwhile', async () => {
    const { client, economy, chain, random } = await start();
    const counts = await Promise.all(
      economy.owners.map(async (owner) => ({ owner, ...(await listTokens(client, owner.toLowerCase())) })),
    );
    const { owner, tokens } = counts.reduce((most, one) =>
      one.tokens.length > most.tokens.length ? one : most,
    );
    expect(tokens.length).toBeGreaterThan(1);
    const address = owner.toLowerCase();
    let pages = 0;
    const found = await listTokens(client, address, async () => {
      if (++pages > 1) return;
      await reorganize(economy, 20, random.step);
      await chain.fold();
    });
    expect(found.restarts).toBe(1);
    expect(found.tokens).toEqual((await listTokens(client, address)).tokens);
  });
});

describe('events', () => {
  it('do not begin with an empty position, as a file has whose writing was broken off', async () => {
    const { connectTo, server } = await start();
    const iteration = connectTo(server.base).events({ after: '' });
    await expect(iteration.next()).rejects.toThrow(
      "after is '': expected the position of an event, or nothing",
    );
  });

  it('begin with the newest ones as soon as the feed is available', async () => {
    const { views } = (await sharedWorld()).chain;
    let refused = 0;
    const economy = () => (++refused <= 3 ? chainlessViews().economy() : views.economy());
    const server = await startPublicServer({ chain: { ...views, economy } });
    const client = createClient({ baseUrl: server.base, firstDelayMs: 1 });
    const events = client.events({ newest: 1, signal: createSignal() });
    const page = await createClient({ baseUrl: (await start()).server.base }).get('/v1/events', { limit: 1 });
    if (page.status === 'unavailable') throw new Error(page.reason);
    expect((await events.next()).value.event.id).toBe(page.events[0]?.id);
  });

  it('come each once and in order through sixty-four connections, joined to the feed', async () => {
    const { records, server, connectTo } = await start();
    const proxy = await startCuttingProxy(server.base);
    const client = connectTo(proxy.url);
    records.add(10);
    const speeds: bigint[] = [];
    let reconnections = 0;
    const onReconnect = () => {
      reconnections++;
    };
    const options = { category: 'measurement', newest: 6, onReconnect, signal: createSignal() } as const;
    const received = (async () => {
      for await (const { event } of client.events(options))
        if (event.type === 'measurement.speed_record') speeds.push(event.payload.recordMmPerSecond);
    })();
    received.catch(() => undefined); // The signal ends it.
    let expected = 10;
    await eventually(() => speeds.length === 5, 'the newest events of the feed, one of which is a milestone');
    for (let round = 1; round <= 8; round++) {
      // What is sent now does not arrive, neither over this connection nor over the next ones.
      proxy.cutAnswers(8);
      records.add((round % 3) + 1);
      expected += (round % 3) + 1;
      await eventually(() => speeds.length >= expected - 5, `all events of round ${round}`);
    }
    const all = Array.from({ length: expected - 5 }, (_, index) => BigInt((index + 6) * recordStep));
    expect(speeds).toEqual(all);
    expect([proxy.cuts, reconnections]).toEqual([64, 64]);
  });

  it('that became visible before the first one arrived are not lost with the connection', async () => {
    const { records, server, connectTo } = await start();
    const proxy = await startCuttingProxy(server.base);
    records.add();
    const events = connectTo(proxy.url).events({ signal: createSignal() });
    const first = events.next();
    await eventually(() => /\nid: \S+\n\n/.test(proxy.answered), 'the position that the stream begins with');
    proxy.cutAnswers(1);
    records.add(2);
    const { event, position } = (await first).value;
    expect(event.payload).toMatchObject({ recordMmPerSecond: BigInt(2 * recordStep) });
    await events.return(undefined as never);
    // Another client continues there.
    const later = connectTo(server.base).events({ after: position, signal: createSignal() });
    const { value } = await later.next();
    expect(value.event.payload).toMatchObject({ recordMmPerSecond: BigInt(3 * recordStep) });
    await expect(connectTo(server.base).events({ after: 'nothing' }).next()).rejects.toMatchObject({
      code: 'invalid_cursor',
    });
  });
});
