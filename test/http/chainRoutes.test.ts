import { getAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import { type ChainActors, createChainActors } from '../../actors/chain/chainActors.ts';
import type { ChainFault } from '../../actors/chain/fold/spanFoldState.ts';
import { miningAbi } from '../../actors/chain/spans/contractAbis.ts';
import { toAddress } from '../../actors/schemas/hex.ts';
import { createChainViews } from '../../actors/views/chain/chainViews.ts';
import { chainUnavailableReasons } from '../../actors/views/chain/chainViewTypes.ts';
import { encodeOwnerCursor } from '../../actors/views/chain/ownerCursor.ts';
import { computeSettlementWindow } from '../../actors/views/chain/settlementHistory.ts';
import { startChainWithHistory } from '../support/chain/chainWithHistory.ts';
import { buildChainDeployment, foldChain } from '../support/chain/foldedChain.ts';
import { buildBlockHash } from '../support/chain/hashes.ts';
import { startEconomy } from '../support/chain/testEconomy.ts';
import { testRelease } from '../support/chain/testRelease.ts';
import { followCursors } from '../support/http/followCursors.ts';
import { startPublicServer, type TestPublicServer } from '../support/http/publicServer.ts';
import { manualClock } from '../support/manualClock.ts';
import { shareInFile } from '../support/processes/lifetime.ts';
import { fetchMessages } from '../support/processes/natsServer.ts';
import { noOlderActivity } from '../support/storage/noOlderActivity.ts';

interface Page {
  readonly chain: { readonly safeThroughBlock: string };
  readonly nextCursor: string | null;
  readonly positions?: readonly Record<string, string>[];
  readonly activity?: readonly Record<string, string>[];
}

type Json = Record<string, never> & { status: string; reason?: string };

/** A chain with a history; each test continues where the previous one stopped. */
const sharedWorld = shareInFile(() => startChainWithHistory({ seed: 3, steps: 90 }));

async function startServer() {
  const { economy, chain, random } = await sharedWorld();
  // A new span, so that the chain is as fresh as the clock of the views has become.
  await economy.mine();
  await chain.fold();
  const server = await startPublicServer({ chain: chain.views });
  const json = async (path: string, status = 200) => {
    const response = await server.get(path);
    expect([path, response.status]).toEqual([path, status]);
    return (await response.json()) as Json;
  };
  return { economy, chain, random, server, json };
}

/** All routes that are read from the chain, for an owner and a token. */
const chainPaths = (owner: string) => [
  '/v1/core',
  '/v1/settlements',
  '/v1/mining/state',
  `/v1/owners/${owner}/miners`,
  `/v1/owners/${owner}/activity`,
  '/v1/miners/1/metadata',
  '/v2/public/miners/state',
  `/v2/public/miners/portfolio?owner=${owner}`,
  `/v2/public/miners/activity?owner=${owner}`,
  '/v2/public/miners/metadata/1',
  '/v4/public/settlements',
];

describe('routes of the chain', () => {
  it('predict what the next checkpoint mints', async () => {
    const { economy, chain, random, json } = await startServer();
    let predicted = 0;
    for (let attempt = 0; attempt < 12; attempt++) {
      for (let step = 0; step < 6; step++) await random.step();
      const { actions, client, deployed, mine, operator } = economy;
      for (let block = 0; block < 12; block++) await mine(1);
      await chain.fold();
      const { mining } = (await json('/v1/settlements')) as unknown as {
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
    expect(predicted).toBeGreaterThan(2);
  });

  it('page through an owner’s positions and activity at one block, whatever is mined meanwhile', async () => {
    const { chain, random, json } = await startServer();
    const owners = chain.actors.newest()?.owners.entrySeq().toArray() ?? [];
    owners.sort(([, one], [, other]) => other.tokenIds.length - one.tokenIds.length);
    const owner = owners[0]?.[0] ?? '';
    for (const [path, list, id] of [
      [`/v1/owners/${owner}/miners?limit=2`, 'positions', 'tokenId'],
      [`/v2/public/miners/portfolio?owner=${owner}&limit=2`, 'positions', 'tokenId'],
      [`/v1/owners/${owner}/activity?limit=3`, 'activity', 'id'],
      [`/v2/public/miners/activity?owner=${owner}&limit=3`, 'activity', 'id'],
    ] as const) {
      const longest = (await json(path.replace(/limit=\d/, 'limit=100'))) as unknown as Page;
      const expected = (longest[list] ?? []).map((one) => one[id]);
      const seen: (string | undefined)[] = [];
      let blocks = 0;
      const read = async (cursor: string | null) =>
        (await json(cursor === null ? path : `${path}&cursor=${cursor}`)) as unknown as Page;
      for await (const page of followCursors(read)) {
        seen.push(...(page[list] ?? []).map((one) => one[id]));
        expect(page.chain.safeThroughBlock).toBe(longest.chain.safeThroughBlock);
        if (blocks++ < 3) {
          await random.step();
          await chain.fold();
        }
      }
      expect(expected.length).toBeGreaterThan(3);
      expect(seen).toEqual(expected);
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
    const { economy, chain, server, json } = await startServer();
    const [owner, other] = economy.owners as [string, string];
    const block = chain.actors.newest()?.block as { number: bigint; hash: string };
    const cursor = encodeOwnerCursor({
      list: 'portfolio',
      block: block.number,
      blockHash: block.hash,
      owner,
      after: 1,
    });
    const gone = encodeOwnerCursor({
      list: 'portfolio',
      block: block.number,
      blockHash: `0x${'9'.repeat(64)}`,
      owner,
      after: 1,
    });
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
    // Of a process that is ahead of this one.
    for (const list of ['portfolio', 'activity'] as const) {
      const ahead = encodeOwnerCursor({
        list,
        owner,
        after: 1,
        block: 999_999n,
        blockHash: buildBlockHash(1),
      });
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
    const { economy, chain, server, json } = await startServer();
    const { actions, mine, owners } = economy;
    await actions.advanceMetadataEpoch('https://cards.example/');
    await mine(12);
    for (let block = 0; block < 12; block++) await mine(12);
    await chain.fold();
    const path = '/v2/public/miners/metadata';
    const tokenId = chain.actors.newest()?.minerPositions.keySeq().first() as number;
    // Metadata of an earlier epoch is not shown.
    expect(await json(`${path}/${tokenId}`)).toMatchObject({ status: 'unavailable', reason: 'not_yet_safe' });
    await actions.publishMetadata(owners[0] as `0x${string}`, BigInt(tokenId));
    for (let block = 0; block < 12; block++) await mine(12);
    await chain.fold();

    expect(await json(`${path}/0?other=1`, 400)).toEqual({ error: 'invalid_query' });
    expect(await json(`${path}/0?release=wrong`, 400)).toEqual({ error: 'invalid_token_id' });
    expect(await json(`${path}/1?release=wrong`, 400)).toEqual({ error: 'invalid_query' });
    expect(await json(`${path}/1?release=`, 400)).toEqual({ error: 'invalid_query' });
    expect(await json(`${path}/1?release=release-1&release=release-1`, 400)).toEqual({
      error: 'invalid_query',
    });
    for (const bad of ['0', '01', '10000', '-1', '1.0', 'a', '%2531']) {
      expect(await json(`${path}/${bad}`, 400)).toEqual({ error: 'invalid_token_id' });
      expect(await json(`/v1/miners/${bad}/metadata`, 400)).toEqual({ error: 'invalid_token_id' });
    }
    expect(await json(`${path}/9999`)).toMatchObject({ status: 'unavailable', reason: 'not_yet_safe' });

    const plain = await server.get(`${path}/${tokenId}`);
    expect(plain.headers.get('cache-control')).toBe('no-store');
    const plainBody = (await plain.json()) as Record<string, string>;
    expect(plainBody).toMatchObject({
      status: 'available',
      tokenId: String(tokenId),
      name: `Miner #${tokenId}`,
    });
    expect(plainBody.imageDataUri).toMatch(/^data:image\/svg\+xml;base64,/);
    expect(plainBody).not.toHaveProperty('cardImageUrl');
    const named = await server.get(`${path}/${tokenId}?release=release-1`);
    expect(named.headers.get('cache-control')).toBe('private, max-age=300');
    const namedBody = (await named.json()) as Record<string, string>;
    expect(namedBody.cardImageUrl).toBe(`https://cards.example/${tokenId}`);
    expect(namedBody).not.toHaveProperty('imageDataUri');
    const missing = await server.get(`${path}/9999?release=release-1`);
    expect(missing.headers.get('cache-control')).toBe('no-store');
    expect(await json(`/v1/miners/${tokenId}/metadata`)).toHaveProperty('imageDataUri');
  });

  it('show settlement history live, from the durable copy or not at all, and say which', async () => {
    const { chain, server } = await startServer();
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
    chain.clock.advance(5_000);
    expect((await ask()).etag).toBe(live.etag);
    chain.clock.advance(200_000);
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

describe('chain views that are not available', () => {
  const readReasons = async (server: TestPublicServer, owner: string) => {
    const reasons = new Set<string | undefined>();
    for (const path of chainPaths(owner)) {
      const body = (await (await server.get(path)).json()) as Json;
      expect([path, body.status]).toEqual([path, 'unavailable']);
      reasons.add(body.reason);
    }
    return [...reasons];
  };

  it('name a mismatch where the deployment has another mining contract, whose tokens cannot be followed', async () => {
    const { economy, chain } = await sharedWorld();
    const contracts = { ...chain.deployment.contracts, mining: toAddress(`0x${'1'.repeat(40)}`) };
    const actors = createChainActors({ ...chain.deployment.chain, contracts });
    for (const { seq, subject, data } of await fetchMessages(chain.nats, 'MINER_CHAIN'))
      actors.receive({ seq, subject, data, timestampNanos: BigInt(chain.clock.nowMs()) * 1_000_000n });
    expect(actors.fault).not.toBeNull();
    const views = createChainViews({
      installationId: 'wheel-1',
      onChain: { deployment: { ...chain.deployment, contracts }, actors },
      isCaughtUp: () => true,
      staleAfterMs: 120_000,
      behindAfterMs: Number.POSITIVE_INFINITY,
      olderActivity: noOlderActivity,
      clock: chain.clock,
    });
    const server = await startPublicServer({ chain: views });
    expect(await readReasons(server, economy.owners[0] as string)).toEqual(['indexer_mismatch']);
  });

  it('say each of the documented reasons, on every route', async () => {
    const economy = await startEconomy();
    const owner = economy.owners[0] as string;
    const seen = new Set<string>();
    const note = (reasons: (string | undefined)[], expected: string) => {
      expect(reasons).toEqual([expected]);
      seen.add(expected);
    };
    note(await readReasons(await startPublicServer(), owner), 'indexer_disabled');

    const deployment = buildChainDeployment(economy);
    const over = (
      settings: { caughtUp?: boolean; contracts?: Record<string, string>; fault?: ChainFault } = {},
    ) => {
      const contracts = { ...deployment.contracts, ...settings.contracts };
      const actors: ChainActors = Object.create(createChainActors({ ...deployment.chain, contracts }), {
        fault: { value: settings.fault ?? null },
      });
      const clock = manualClock();
      const views = createChainViews({
        installationId: 'wheel-1',
        onChain: { deployment: { ...deployment, contracts }, actors },
        isCaughtUp: () => settings.caughtUp ?? true,
        staleAfterMs: 120_000,
        behindAfterMs: Number.POSITIVE_INFINITY,
        olderActivity: noOlderActivity,
        clock,
      });
      return { actors, views, clock };
    };
    note(await readReasons(await startPublicServer({ chain: over().views }), owner), 'indexer_unavailable');
    const rebuilding = over({ caughtUp: false }).views;
    note(await readReasons(await startPublicServer({ chain: rebuilding }), owner), 'indexer_unavailable');
    expect(rebuilding.conditions()).toMatchObject({ core: 'projection_rebuilding' });
    // A block that cannot be applied has a condition of its own.
    const fault = {
      block: { number: 1n, hash: buildBlockHash(1), timestampMs: 0 },
      detail: 'impossible',
    } as const;
    const faulty = over({ fault }).views;
    note(await readReasons(await startPublicServer({ chain: faulty }), owner), 'indexer_unavailable');
    expect(faulty.conditions()).toMatchObject({ core: 'projection_failed' });

    const chain = await foldChain(economy);
    await chain.fold();
    note(await readReasons(await startPublicServer({ chain: chain.views }), owner), 'not_yet_safe');
    const foreign = over({ contracts: { core: `0x${'1'.repeat(40)}` } });
    const stored = await chain.nats.jsm.streams.getMessage('MINER_CHAIN', { seq: 1 });
    foreign.actors.receive({
      seq: 1,
      subject: stored?.subject ?? '',
      data: stored?.data ?? new Uint8Array(),
      timestampNanos: BigInt(foreign.clock.nowMs()) * 1_000_000n,
    });
    note(await readReasons(await startPublicServer({ chain: foreign.views }), owner), 'indexer_mismatch');

    // An upgrade through the timelock to a version that is not known.
    const { actions, client, mine } = economy;
    const hash = await actions.createImplementation('SettlementCore', 9n);
    await mine(12);
    const { contractAddress } = await client.getTransactionReceipt({ hash });
    await actions.scheduleUpgrade(contractAddress as `0x${string}`, 60n);
    await mine(12);
    for (let block = 0; block < 18; block++) await mine(12);
    await chain.fold();
    const server = await startPublicServer({ chain: chain.views });
    expect(await (await server.get('/v1/core')).json()).toMatchObject({
      status: 'available',
      governance: { operationKind: 'upgrade', operationState: 'ready' },
    });
    await actions.executeUpgrade(contractAddress as `0x${string}`);
    for (let block = 0; block < 14; block++) await mine(12);
    await chain.fold();
    const unsupported = (await (await server.get('/v1/core')).json()) as Json;
    expect(unsupported.reason).toBe('indexer_unavailable');
    expect(chain.views.conditions()).toMatchObject({ core: 'unsupported_contract_version' });
    expect(chain.actors.newest()?.core.implementation?.codeVersion).toBe(9n);
    expect([...seen].sort()).toEqual([...chainUnavailableReasons].sort());
  });
});
