import { getAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import { miningAbi } from '../../actors/chain/spans/contractAbis.ts';
import type { ChainViews, OwnerActivityView } from '../../actors/views/chain/chainViewTypes.ts';
import { encodeOwnerCursor, type OwnerCursor } from '../../actors/views/chain/ownerCursor.ts';
import { computeSettlementWindow } from '../../actors/views/chain/settlementHistory.ts';
import { StorageUnavailable } from '../../storage/storageUnavailable.ts';
import { startChainWithHistory } from '../support/chain/chainWithHistory.ts';
import {
  buildEconomyEvents,
  buildState,
  createStateViews,
  metadataEvent,
  stateOwner as owner,
  plainMetadata,
} from '../support/chain/economyState.ts';
import { buildBlockHash } from '../support/chain/hashes.ts';
import { testRelease } from '../support/chain/testRelease.ts';
import { expectError } from '../support/http/expectError.ts';
import { startPublicServer } from '../support/http/publicServer.ts';

type Json = Record<string, never> & { status: string; reason?: string };

const card = metadataEvent(1n, { ...plainMetadata, card_image: 'https://cards.example/1' });

/** A server over the state of an economy with one position. */
async function startServer() {
  const state = buildState([...buildEconomyEvents(), card]);
  const { views, clock, source } = createStateViews(state);
  const server = await startPublicServer({ chain: views });
  const json = async (path: string, status = 200) => {
    const response = await server.get(path);
    expect([path, response.status]).toEqual([path, status]);
    return (await response.json()) as Json;
  };
  return { state, source, clock, server, json };
}

describe('routes of the chain', () => {
  it('predict what the next checkpoint mints', async () => {
    const { economy, chain, random } = await startChainWithHistory({ seed: 3, steps: 40 });
    const server = await startPublicServer({ chain: chain.views });
    let predicted = 0;
    for (let attempt = 0; attempt < 5; attempt++) {
      for (let step = 0; step < 6; step++) await random.step();
      const { actions, client, deployed, mine, operator } = economy;
      for (let block = 0; block < 12; block++) await mine(1);
      await chain.fold();
      const { mining } = (await (await server.get('/v1/settlements')).json()) as {
        mining: { nextRound: Record<string, string>; totalMintedBaseUnits: string };
      };
      if (mining.nextRound.state !== 'ready') continue;
      await actions.checkpoint(operator, BigInt(mining.nextRound.countedThroughRound as string));
      await mine(1);
      const read = { address: deployed.contracts.mining, abi: miningAbi } as const;
      const total = await client.readContract({ ...read, functionName: 'totalMinted' });
      expect(total - BigInt(mining.totalMintedBaseUnits)).toBe(
        BigInt(mining.nextRound.amountBaseUnits as string),
      );
      expect(await client.readContract({ ...read, functionName: 'totalWeight' })).toBe(
        BigInt(mining.nextRound.eligibleWeight as string),
      );
      predicted++;
    }
    expect(predicted).toBeGreaterThan(0);
  });

  it('prepare the same page once, until the economy changes or a second has passed', async () => {
    const { state, source, clock, server } = await startServer();
    const countPrepared = async () =>
      Number(/^miner_http_prepared_responses_total (\d+)$/m.exec(await server.registry.metrics())?.[1] ?? 0);
    const pages = [
      '/v1/events?',
      `/v1/owners/${owner}/miners?`,
      `/v2/public/miners/activity?owner=${owner}&`,
    ];
    for (const page of pages) {
      const request = async (limit: number, method = 'GET') => {
        const before = await countPrepared();
        const response = await server.get(`${page}limit=${limit}`, {}, method);
        return { prepared: (await countPrepared()) - before, body: await response.text() };
      };
      const first = await request(1);
      expect([page, first.prepared, JSON.parse(first.body).status]).toEqual([page, 1, 'available']);
      clock.advance(999);
      expect(await request(1)).toEqual({ ...first, prepared: 0 });
      expect(await request(1, 'HEAD')).toEqual({ prepared: 0, body: '' });
      expect((await request(2)).prepared).toBe(1);
      clock.advance(1);
      const later = await request(1);
      expect(later.prepared).toBe(1);
      expect(Date.parse(JSON.parse(later.body).generatedAt)).toBe(clock.nowMs());
      source.state = buildState([...buildEconomyEvents(), card], { number: state.block.number + 1n });
      expect(JSON.parse((await request(1)).body).chain.safeThroughBlock).toBe(`${state.block.number + 1n}`);
      source.state = state;
      // Others than the first sixteen are not kept.
      for (let limit = 1; limit <= 16; limit++) expect((await request(limit)).prepared).toBe(1);
      for (let limit = 1; limit <= 16; limit++) expect((await request(limit)).prepared).toBe(0);
      for (let time = 0; time < 2; time++) expect((await request(17)).prepared).toBe(1);
    }
  });

  it('refuse a cursor that does not decode while the chain is unavailable, too', async () => {
    const server = await startPublicServer();
    const owner = `0x${'a'.repeat(40)}`;
    for (const list of ['miners', 'activity']) {
      const plain = await server.get(`/v1/owners/${owner}/${list}?cursor=abc`);
      expect([list, plain.status, await plain.json()]).toEqual([list, 400, { error: 'invalid_cursor' }]);
      const name = list === 'miners' ? 'portfolio' : list;
      const shown = await server.get(`/v2/public/miners/${name}?owner=${owner}&cursor=abc`);
      expect([list, shown.status]).toEqual([list, 200]);
      expect(await shown.json()).toMatchObject({ status: 'unavailable', reason: 'indexer_unavailable' });
    }
  });

  it('answer 503 for activity that ClickHouse does not hold', async () => {
    const { views } = createStateViews(buildState(buildEconomyEvents()));
    const ownerActivity = () => Promise.reject(new StorageUnavailable('a row is missing'));
    const { get } = await startPublicServer({ chain: { ...views, ownerActivity } });
    for (const path of [`/v1/owners/${owner}/activity`, `/v2/public/miners/activity?owner=${owner}`])
      await expectError(await get(path), 503, 'database_unavailable');
  });

  it('show a page of ClickHouse as the same page of memory', async () => {
    const { views } = createStateViews(buildState(buildEconomyEvents()));
    const readFrom = async (chain: ChainViews) => {
      const { get } = await startPublicServer({ chain });
      const paths = [`/v1/owners/${owner}/activity`, `/v2/public/miners/activity?owner=${owner}`];
      return Promise.all(paths.map(async (path) => (await get(path)).json()));
    };
    const ownerActivity: ChainViews['ownerActivity'] = (page, signal) =>
      Promise.resolve(views.ownerActivity(page, signal) as OwnerActivityView);
    expect(await readFrom({ ...views, ownerActivity })).toEqual(await readFrom(views));
  });

  it('show a collection without a sale, with zeros and without times', async () => {
    const events = buildEconomyEvents().filter(({ name }) => name !== 'SaleConfigured');
    const { get } = await startPublicServer({ chain: createStateViews(buildState(events)).views });
    for (const path of ['/v1/mining/state', '/v2/public/miners/state'])
      expect(await (await get(path)).json()).toHaveProperty('collection', {
        phase: 'unconfigured',
        paused: false,
        publicMinted: '1',
        publicAllocation: '0',
        reserveMinted: '0',
        protocolReserve: '0',
        publicPriceBaseUnits: '0',
        allowlistStart: null,
        allowlistEnd: null,
      });
  });

  it.each([
    ['/v1/miners/%31/metadata', 200],
    ['/v1/miners/%31%/metadata', 400],
    ['/v2/public/miners/metadata/%31', 200],
    [`/v1/owners/%30x${'a'.repeat(40)}/miners`, 200],
    [`/v1/owners/%30x${'a'.repeat(40)}/activity`, 200],
    ['/v1/public/installations/wheel%2D1/telemetry', 200],
    ['/v1/public/installations/wheel%2/telemetry', 400],
    ['/v1/public/installations/wheel%252D1/telemetry', 400],
  ])('%s is decoded once, as in every path: %i', async (path, status) => {
    const server = await startPublicServer();
    expect((await server.get(path)).status).toBe(status);
  });

  it('refuse an invalid owner, limit or cursor', async () => {
    const { state, server, json } = await startServer();
    const { number, hash } = state.block;
    const other = `0x${'b'.repeat(40)}`;
    const encode = (values: Partial<OwnerCursor> = {}) =>
      encodeOwnerCursor({ list: 'portfolio', block: number, blockHash: hash, owner, after: 1, ...values });
    const cursor = encode();
    const gone = encode({ blockHash: `0x${'9'.repeat(63)}8` });
    const checksummed = getAddress(owner);

    for (const bad of [
      '0x1',
      owner.slice(2),
      checksummed
        .replace(/[a-f]/, (c) => c.toUpperCase())
        .replace(/[A-F](?=[^A-F]*$)/, (c) => c.toLowerCase()),
      `0x${'0'.repeat(40)}`,
      `${owner}0`,
      owner.toUpperCase(),
    ]) {
      if (bad === checksummed) continue;
      expect(await json(`/v1/owners/${bad}/miners`, 400)).toEqual({ error: 'invalid_address' });
      expect(await json(`/v2/public/miners/portfolio?owner=${bad}`, 400)).toEqual({ error: 'invalid_query' });
    }
    expect(await json(`/v1/owners/${checksummed}/miners`)).toMatchObject({ status: 'available', owner });
    expect(await json(`/v2/public/miners/portfolio?owner=${checksummed}`, 400)).toEqual({
      error: 'invalid_query',
    });

    for (const query of [
      'limit=0',
      'limit=101',
      'limit=',
      'limit=1.0',
      'limit=+1',
      'limit=01',
      'limit=5&limit=5',
      'page=1',
    ]) {
      expect(await json(`/v1/owners/${owner}/activity?${query}`, 400)).toEqual({ error: 'invalid_query' });
      expect(await json(`/v2/public/miners/activity?owner=${owner}&${query}`, 400)).toEqual({
        error: 'invalid_query',
      });
    }
    expect(await json('/v2/public/miners/activity', 400)).toEqual({ error: 'invalid_query' });
    expect(await json(`/v2/public/miners/activity?owner=${owner}&owner=${owner}`, 400)).toEqual({
      error: 'invalid_query',
    });
    expect(await json(`/v2/public/miners/portfolio?owner=${owner}&cursor=`, 400)).toEqual({
      error: 'invalid_query',
    });
    expect(await json(`/v2/public/miners/portfolio?owner=${owner}&cursor=a.b`, 400)).toEqual({
      error: 'invalid_query',
    });

    const refuseQuery = (path: string, query: string, status: number) =>
      json(`/v1/owners/${path}?cursor=${query}`, status);
    expect(await refuseQuery(`${owner}/miners`, 'abc', 400)).toEqual({ error: 'invalid_cursor' });
    expect(await refuseQuery(`${owner}/activity`, cursor, 400)).toEqual({ error: 'invalid_cursor' });
    expect(await refuseQuery(`${other}/miners`, cursor, 400)).toEqual({ error: 'invalid_cursor' });
    expect(await refuseQuery(`${owner}/miners`, gone, 409)).toEqual({ error: 'cursor_invalidated' });
    // A cursor from a process that is ahead of this process.
    for (const list of ['portfolio', 'activity'] as const) {
      const ahead = encode({ list, block: 999_999n, blockHash: buildBlockHash(1) });
      const path = list === 'portfolio' ? 'miners' : 'activity';
      const response = await server.get(`/v1/owners/${owner}/${path}?cursor=${ahead}`);
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
      expect(await response.json()).toEqual({ error: 'database_unavailable' });
    }
    const refuseCursor = (list: string, of: string, query: string) =>
      json(`/v2/public/miners/${list}?owner=${of}&cursor=${query}`);
    const unavailable = (reason: string) => ({ status: 'unavailable', reason, release: testRelease });
    expect(await refuseCursor('portfolio', owner, 'abc')).toMatchObject(unavailable('indexer_unavailable'));
    expect(await refuseCursor('activity', owner, cursor)).toMatchObject(unavailable('indexer_unavailable'));
    expect(await refuseCursor('portfolio', other, cursor)).toMatchObject(unavailable('indexer_mismatch'));
    expect(await refuseCursor('portfolio', owner, gone)).toMatchObject(unavailable('indexer_unavailable'));
    const nobody = `0x${'77'.repeat(20)}`;
    expect(await json(`/v2/public/miners/activity?owner=${nobody}`)).toMatchObject({
      activity: [],
      total: '0',
      nextCursor: null,
    });
  });

  it('validate a metadata request in the order of the contract, and keep the images that it names', async () => {
    const { source, server, json } = await startServer();
    const path = '/v2/public/miners/metadata';
    for (const [request, error] of [
      ['0?other=1', 'invalid_query'],
      ['0?release=wrong', 'invalid_token_id'],
      ['1?release=wrong', 'invalid_query'],
      ['1?release=', 'invalid_query'],
      ['1?release=release-1&release=release-1', 'invalid_query'],
    ])
      expect([request, await json(`${path}/${request}`, 400)]).toEqual([request, { error }]);
    for (const bad of ['0', '01', '10000', '-1', '1.0', 'a', '%2531']) {
      expect(await json(`${path}/${bad}`, 400)).toEqual({ error: 'invalid_token_id' });
      expect(await json(`/v1/miners/${bad}/metadata`, 400)).toEqual({ error: 'invalid_token_id' });
    }
    const chainless = await startPublicServer();
    await expectError(await chainless.get(`${path}/1?release=release-1`), 400, 'invalid_query');
    const readImages = async (request: string) => {
      const response = await server.get(`${path}/${request}`);
      const { status, imageDataUri, cardImageUrl } = (await response.json()) as Json;
      const images = [imageDataUri !== undefined, cardImageUrl];
      return [status, response.headers.get('cache-control'), ...images];
    };
    expect(await readImages('1')).toEqual(['available', 'no-store', true, undefined]);
    const cardUrl = 'https://cards.example/1';
    expect(await readImages('1?release=release-1')).toEqual([
      'available',
      'private, max-age=300',
      false,
      cardUrl,
    ]);
    const missing = ['unavailable', 'no-store', false, undefined];
    expect(await readImages('9999')).toEqual(missing);
    expect(await readImages('9999?release=release-1')).toEqual(missing);
    source.state = buildState([...buildEconomyEvents(), metadataEvent(1n, plainMetadata)]);
    expect(await readImages('1?release=release-1')).toEqual(['available', 'no-store', true, undefined]);
  });

  it('show settlement history live, from the durable copy or not at all, and say which', async () => {
    const { clock, server } = await startServer();
    const ask = async (range = '') => {
      const response = await server.get(`/v1/settlements${range}`);
      const body = (await response.json()) as Json;
      return {
        source: response.headers.get('x-miner-settlement-source'),
        body,
        etag: response.headers.get('etag'),
      };
    };
    const live = await ask();
    expect(live).toMatchObject({ source: 'live', body: { status: 'available', range: 'now', window: null } });
    const unchanged = await server.get('/v1/settlements', { 'If-None-Match': live.etag as string });
    expect(unchanged.status).toBe(304);
    expect(unchanged.headers.get('x-miner-settlement-source')).toBe('live');
    clock.advance(5_000);
    expect((await ask()).etag).toBe(live.etag);
    clock.advance(200_000);
    expect(await ask()).toMatchObject({ source: 'durable-cache', body: { status: 'available' } });
    const core = await server.get('/v1/core');
    expect(await core.json()).toMatchObject({ status: 'unavailable', reason: 'indexer_unavailable' });
    for (const range of ['?range=1h', '?range=', '?range=now&range=now', '?queue=1', '?range=now&x=1']) {
      expect((await server.get(`/v1/settlements${range}`)).status).toBe(400);
    }
    for (const query of ['queue=0', 'queue=', 'queue=1&queue=1', 'queue=1&range=1h', 'range=&queue=1'])
      expect((await server.get(`/v4/public/settlements?${query}`)).status).toBe(400);
  });

  it('have a window for each range, which shifts at full hours and at noon', () => {
    expect(computeSettlementWindow('now', 0)).toBeNull();
    for (const [range, now, start, end, bucketSeconds] of [
      ['24h', '2026-02-03T10:59:59.999Z', '2026-02-02T11:00:00.000Z', '2026-02-03T11:00:00.000Z', 3_600],
      ['24h', '2026-02-03T11:00:00.000Z', '2026-02-02T12:00:00.000Z', '2026-02-03T12:00:00.000Z', 3_600],
      ['7d', '2026-02-03T11:59:59.999Z', '2026-01-27T12:00:00.000Z', '2026-02-03T12:00:00.000Z', 21_600],
      ['7d', '2026-02-03T12:00:00.000Z', '2026-01-28T12:00:00.000Z', '2026-02-04T12:00:00.000Z', 21_600],
      ['30d', '2026-02-03T12:00:00.000Z', '2026-01-05T12:00:00.000Z', '2026-02-04T12:00:00.000Z', 86_400],
    ] as const)
      expect(computeSettlementWindow(range, Date.parse(now))).toMatchObject({
        startAtMs: Date.parse(start),
        endAtMs: Date.parse(end),
        bucketSeconds,
      });
  });
});
