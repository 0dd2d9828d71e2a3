import { getAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../actors/pages/olderRows.ts';
import type { ChainViews } from '../../actors/views/chain/chainViews.ts';
import {
  encodeOwnerCursor,
  type OwnerActivityView,
  type OwnerCursor,
} from '../../actors/views/chain/ownerViews.ts';
import {
  buildEconomyEvents,
  buildState,
  createEconomyViews,
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
  it('prepare the same page once, until the economy changes or a second has passed', async () => {
    const { state, source, clock, server } = await startServer();
    const countPrepared = async () =>
      Number(/^miner_http_prepared_responses_total (\d+)$/m.exec(await server.registry.metrics())?.[1] ?? 0);
    const pages = [
      '/v1/events?',
      '/v1/rounds?',
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

  it('show a page of ClickHouse like one of memory, or 503', async () => {
    const { views } = createEconomyViews();
    const paths = [`/v1/owners/${owner}/activity`, `/v2/public/miners/activity?owner=${owner}`];
    const readFrom = async (ownerActivity: ChainViews['ownerActivity']) => {
      const { get } = await startPublicServer({ chain: { ...views, ownerActivity } });
      const answers: Response[] = [];
      for (const path of [...paths, ...paths]) answers.push(await get(path));
      return answers;
    };
    let reads = 0;
    const [inMemory, stored, missing] = await Promise.all([
      readFrom(views.ownerActivity),
      readFrom((page, signal) => {
        reads++;
        return Promise.resolve(views.ownerActivity(page, signal) as OwnerActivityView);
      }),
      readFrom(() => Promise.reject(new StoreUnavailable('a row is missing'))),
    ]);
    // The rows of a state are final, so what was read is kept as long as what memory has.
    expect(reads).toBe(2);
    for (const [index, one] of stored.entries())
      expect(await one.json()).toEqual(await inMemory[index]?.json());
    for (const one of missing) await expectError(one, 503, 'database_unavailable');
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

  it('refuse a cursor of another list, owner or chain', async () => {
    const { state, server, json } = await startServer();
    const { number, hash } = state.block;
    const other = `0x${'b'.repeat(40)}`;
    const encode = (values: Partial<OwnerCursor> = {}) =>
      encodeOwnerCursor({ list: 'portfolio', block: number, blockHash: hash, owner, after: 1, ...values });
    const cursor = encode();
    const gone = encode({ blockHash: `0x${'9'.repeat(63)}8` });
    const checksummed = getAddress(owner);

    const refuse = async (path: string, error: string, status = 400) =>
      expect([path, await json(path, status)]).toEqual([path, { error }]);
    expect(await json(`/v1/owners/${checksummed}/miners`)).toMatchObject({ status: 'available', owner });
    await refuse(`/v1/owners/${owner}/activity?cursor=${cursor}`, 'invalid_cursor');
    await refuse(`/v1/owners/${other}/miners?cursor=${cursor}`, 'invalid_cursor');
    await refuse(`/v1/owners/${owner}/miners?cursor=${gone}`, 'cursor_invalidated', 409);
    // A cursor from a process that is ahead of this process.
    for (const [list, path] of [
      ['portfolio', 'miners'],
      ['activity', 'activity'],
    ] as const) {
      const ahead = encode({ list, block: 999_999n, blockHash: buildBlockHash(1) });
      const response = await server.get(`/v1/owners/${owner}/${path}?cursor=${ahead}`);
      expect(response.headers.get('retry-after')).toBe('2');
      await expectError(response, 503, 'database_unavailable');
    }
    for (const [list, of, given, reason] of [
      ['portfolio', owner, 'abc', 'indexer_unavailable'],
      ['activity', owner, cursor, 'indexer_unavailable'],
      ['portfolio', other, cursor, 'indexer_mismatch'],
      ['portfolio', owner, gone, 'indexer_unavailable'],
    ])
      expect(await json(`/v2/public/miners/${list}?owner=${of}&cursor=${given}`)).toMatchObject({
        status: 'unavailable',
        reason,
        release: testRelease,
      });
  });

  it('validate a metadata request in order, and keep named images', async () => {
    const { source, server, json } = await startServer();
    const path = '/v2/public/miners/metadata';
    for (const [request, error] of [
      ['0?other=1', 'invalid_query'],
      ['0?release=wrong', 'invalid_token_id'],
    ])
      expect([request, await json(`${path}/${request}`, 400)]).toEqual([request, { error }]);
    const chainless = await startPublicServer();
    await expectError(await chainless.get(`${path}/1?release=release-1`), 400, 'invalid_query');
    const readImages = async (request: string) => {
      const response = await server.get(`${path}/${request}`);
      const { status, imageDataUri, cardImageUrl } = (await response.json()) as Json;
      return [status, response.headers.get('cache-control'), imageDataUri !== undefined, cardImageUrl];
    };
    const plain = ['available', 'no-store', true, undefined];
    const missing = ['unavailable', 'no-store', false, undefined];
    const card = ['available', 'private, max-age=300', false, 'https://cards.example/1'];
    expect(await readImages('1')).toEqual(plain);
    expect(await readImages('1?release=release-1')).toEqual(card);
    for (const query of ['', '?release=release-1']) expect(await readImages(`9999${query}`)).toEqual(missing);
    source.state = buildState([...buildEconomyEvents(), metadataEvent(1n, plainMetadata)]);
    expect(await readImages('1?release=release-1')).toEqual(plain);
  });

  it('show settlement history live, durable or not at all', async () => {
    const { clock, server, json } = await startServer();
    const ask = async (headers = {}) => {
      const { status, headers: sent } = await server.get('/v1/settlements', headers);
      return [status, sent.get('x-miner-settlement-source'), sent.get('etag')];
    };
    expect(await json('/v4/public/settlements?queue=1&range=7d')).toHaveProperty('range', '7d');
    const live = await ask();
    expect(live).toEqual([200, 'live', expect.any(String)]);
    const etag = live[2];
    expect(await ask({ 'If-None-Match': etag })).toEqual([304, 'live', etag]);
    clock.advance(5_000);
    expect(await ask()).toEqual([200, 'live', etag]);
    clock.advance(200_000);
    expect(await ask()).toEqual([200, 'durable-cache', expect.any(String)]);
    await expectError(await server.get('/v4/public/settlements?range=1h&queue=1'), 400, 'invalid_query');
  });
});
