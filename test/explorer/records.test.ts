import { describe, expect, it } from 'vitest';
import { toChainRow } from '../../actors/feed/eventRows.ts';
import { createEconomyViews, mintMore, stateOwner } from '../support/chain/economyState.ts';
import { settled } from '../support/chain/feedEvents.ts';
import { buildFeedEvent, replaceFeed } from '../support/chain/feedOfEvents.ts';
import { buildTransactionHash } from '../support/chain/hashes.ts';
import { createTestChainViews } from '../support/chain/testChainViews.ts';
import { expectError } from '../support/http/expectError.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { shareInFile } from '../support/processes/lifetime.ts';
import { olderAmong } from '../support/storage/noOlderRows.ts';

/** Batches of three rounds, each in a block of its own. */
const batches = [0n, 1n, 2n].map((number) => {
  const previousSettledThroughRound = 3n * number;
  const settledThroughRound = previousSettledThroughRound + 3n;
  const batch = settled({ previousSettledThroughRound, settledThroughRound, workAdded: 3n });
  const { source, ...event } = buildFeedEvent(batch, Number(number));
  const transactionHash = buildTransactionHash(number + 1n);
  return { ...event, source: { ...source, blockNumber: 1_000_000n + 10n * number, transactionHash } };
});

/** One server for all tests that do not change what it shows. */
const start = shareInFile(async () => {
  const server = await startPublicServer({
    chain: replaceFeed(createEconomyViews().views, batches),
    transactionUrl: 'https://chain.example/tx/',
    publicUrl: 'https://wheel.example',
  });
  const readPage = async (path: string) => {
    const response = await server.get(path);
    return { status: response.status, html: await response.text() };
  };
  return { server, readPage };
});

describe('the page of a record', () => {
  it('finds the batch of a round and of a transaction', async () => {
    const { readPage } = await start();
    for (const [batch, { source }] of batches.entries()) {
      const page = `/transactions/${source.transactionHash}`;
      for (const path of [`/rounds/${3 * batch + 1}`, `/rounds/${3 * batch + 3}`, page]) {
        const { status, html } = await readPage(path);
        expect([path, status, html.split('class="event ').length - 1]).toEqual([path, 200, 1]);
        expect(html).toContain(`href="${page}"`);
      }
    }
  });

  it('says of a round that is still to come what its route says, without events', async () => {
    const { server, readPage } = await start();
    const answer = await server.get('/v1/rounds/999999');
    expect([answer.status, await answer.json()]).toMatchObject([200, { round: { state: 'future' } }]);
    const { status, html } = await readPage('/rounds/999999');
    expect([status, html.includes('class="event ')]).toEqual([200, false]);
    expect(html).toContain('It has not begun yet.');
    expect(html).not.toMatch(/on the day of|Next round/);
  });

  it('shows the hash of a transaction, also if nothing is known of it', async () => {
    const { readPage } = await start();
    const unknown = buildTransactionHash(batches.length + 1);
    const { status, html } = await readPage(`/transactions/${unknown}`);
    expect([status, html.includes('class="event ')]).toEqual([200, false]);
    expect(html).toContain('No events for this transaction');
    expect(html).toContain(`href="https://chain.example/tx/${unknown}"`);
  });

  it('is of the transaction, for an event and for a block of the chain', async () => {
    const { server, readPage } = await start();
    const { events } = (await (await server.get('/v1/events?category=protocol')).json()) as {
      events: { id: string; source: { transactionHash: string; blockNumber: string } }[];
    };
    const [{ id, source } = { id: '', source: { transactionHash: '', blockNumber: '' } }] = events;
    for (const path of [`/events/${encodeURIComponent(id)}`, `/ethereum-blocks/${source.blockNumber}`]) {
      const response = await fetch(server.base + path, { redirect: 'manual' });
      expect([path, response.status, response.headers.get('location')]).toEqual([
        path,
        303,
        `/transactions/${source.transactionHash}`,
      ]);
    }
    const { html } = await readPage(`/transactions/${source.transactionHash}`);
    expect(html).toMatch(/<time[^>]* title="\d+ [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d UTC">/);
    expect(html).toContain(`chain block ${Number(source.blockNumber).toLocaleString('en-US')}`);
    expect(html).toContain(
      `<link rel="canonical" href="https://wheel.example/transactions/${source.transactionHash}"/>`,
    );
    expect(html).toMatch(/property="og:description" content="[^"]*Rounds [\d,]+ to [\d,]+: 3 work units/);
    for (const unknown of ['/ethereum-blocks/49', '/blocks/1', '/miners/9999'])
      expect([unknown, (await server.get(unknown)).status]).toEqual([unknown, 404]);
  });

  it('names the survivor of a miner that was merged before all that memory holds', async () => {
    const evicted = { through: { position: 9, ordinal: 0 }, throughMs: 9, atPosition: 9 };
    const merge = buildFeedEvent({
      type: 'player.miners_merged',
      owner: stateOwner,
      survivorTokenId: 1n,
      donorTokenId: 77n,
      level: 2,
      nextMergeBlock: 9n,
      effectiveRound: 3n,
    });
    const row = toChainRow(merge, { chainId: 31_337n, storedBy: 1 });
    const server = await startPublicServer({
      chain: replaceFeed(createEconomyViews().views, [], evicted),
      olderEvents: olderAmong(() => [row]),
    });
    const response = await server.get('/miners/77');
    expect([response.status, await response.text()]).toEqual([
      200,
      expect.stringContaining('It was merged into miner <a href="/miners/1">'),
    ]);
    expect((await server.get('/miners/78')).status).toBe(404);
  });

  it('says that events cannot be read, not that there are none', async () => {
    const { following } = createEconomyViews().views;
    const server = await startPublicServer({ chain: { ...createTestChainViews(), following } });
    for (const path of [`/transactions/${buildTransactionHash(1)}`, '/rounds/1', '/miners/1']) {
      const response = await server.get(path);
      expect([path, response.status]).toEqual([path, 503]);
      expect(await response.text()).toContain('Events cannot be read at the moment');
    }
  });

  it('says once that there is no chain, as its route does', async () => {
    const server = await startPublicServer();
    for (const path of [`/transactions/${buildTransactionHash(1)}`, '/rounds/1', '/miners/1']) {
      expect(await (await server.get(`/v1${path}`)).json()).toMatchObject({ reason: 'indexer_disabled' });
      const response = await server.get(path);
      expect([path, response.status]).toEqual([path, 200]);
      const text = await response.text();
      expect(text.split('This service is not connected to a chain')).toHaveLength(2);
      expect(text).not.toContain('at the moment');
    }
  });
});

describe('the file of a list', () => {
  it('has a page of the list in its order, and leads to the earlier ones', async () => {
    const server = await startPublicServer({ chain: createEconomyViews({}, ...mintMore(2n, 3n)).views });
    let path: string | undefined = `/tables/activity.csv?owner=${stateOwner}&limit=1`;
    const files: string[][] = [];
    while (path !== undefined) {
      const response: Response = await server.get(path);
      expect([response.status, response.headers.get('content-disposition')]).toEqual([
        200,
        expect.stringMatching(`filename="wheel-1-activity-${stateOwner}-[\\d-]+(?:to-[\\d-]+)?\\.csv"`),
      ]);
      const [head, ...lines] = (await response.text()).trimEnd().split('\r\n');
      expect(head).toBe(
        'at_utc,action,token_ids,claimed_base_units,from,to,level,ethereum_block,transaction',
      );
      files.unshift(lines);
      path = /^<(.*)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1];
    }
    expect(files.map((rows) => rows.map((row) => row.split(',')[2]))).toEqual([['1'], ['2'], ['3']]);
    // Without a limit it has as many as the list can show at once.
    const whole = await (await server.get(`/tables/activity.csv?owner=${stateOwner}`)).text();
    expect(whole.trimEnd().split('\r\n').slice(1)).toEqual(files.flat());
  });

  it('is 503 while its route has no rows to show', async () => {
    const server = await startPublicServer({ chain: createTestChainViews() });
    const response = await server.get('/tables/settlements.csv?range=7d');
    await expectError(response, 503, 'database_unavailable');
    expect(response.headers.get('retry-after')).toBe('2');
  });

  it('refuses what its route refuses, and an owner that cannot be', async () => {
    const { server } = await start();
    const wrong = [
      'days.csv?range=90d',
      'settlements.csv?from=2026-11-01',
      'half-hours.csv?x',
      'half-hours.csv?range=7d&date=2026-01-31',
      'half-hours.csv?date=1&date=2',
      `activity.csv?owner=${stateOwner}&limit=101`,
    ];
    for (const file of wrong) await expectError(await server.get(`/tables/${file}`), 400, 'invalid_query');
    const bad = await server.get(`/tables/activity.csv?owner=${stateOwner}&cursor=bad`);
    await expectError(bad, 400, 'invalid_cursor');
    for (const file of [
      'activity.csv?owner=0x12',
      `activity.svg?owner=${stateOwner}`,
      'earnings.csv',
      'half-hours.csv?date=2026-02-30',
      'half-hours.csv?date=2001-01-01',
      'settlements.svg?range=now',
    ])
      await expectError(await server.get(`/tables/${file}`), 404, 'not_found');
  });
});
