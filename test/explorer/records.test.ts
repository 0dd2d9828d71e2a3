import { describe, expect, it } from 'vitest';
import { toChainRow } from '../../actors/feed/eventRows.ts';
import {
  buildEconomyEvents,
  buildState,
  createStateViews,
  stateOwner,
} from '../support/chain/economyState.ts';
import { buildFeedEvent, replaceFeed } from '../support/chain/feedOfEvents.ts';
import { buildBlockHash, buildTransactionHash } from '../support/chain/hashes.ts';
import { expectError } from '../support/http/expectError.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { shareInFile } from '../support/processes/lifetime.ts';
import { createSpeedRecords } from '../support/readings/speedRecords.ts';
import { noOlderEvents } from '../support/storage/noOlderEvents.ts';

const batchCount = 2_200;
/** The first half was recorded at once, as by an indexer that started late; then a batch each hour. */
const recordedAtOnce = batchCount / 2;

/** Batches of three rounds and two blocks, every third without a block, each in a block of its own. */
function buildBatches(state: ReturnType<typeof buildState>) {
  let height = 0n;
  return Array.from({ length: batchCount }, (_, index) => {
    const number = BigInt(index);
    const completed = index % 3 === 2 ? 0n : 2n;
    const first = height + 1n;
    height += completed;
    const event = buildFeedEvent(
      state,
      {
        type: 'system.settlement_completed',
        previousSettledThroughRound: 3n * number,
        settledThroughRound: 3n * number + 3n,
        activeRoundCount: 3n,
        workAdded: 3n,
        completedBlockCount: completed,
        firstCompletedBlock: completed === 0n ? null : first,
        lastCompletedBlock: completed === 0n ? null : height,
        cumulativeWork: 3n * number + 3n,
        blockHeight: height,
        cumulativeBlockUnits: height * 1_000_000_000n,
      },
      index,
    );
    return {
      ...event,
      recordedAtMs: event.recordedAtMs - index + Math.max(0, index - recordedAtOnce) * 3_600_000,
      source: {
        ...event.source,
        blockNumber: 1_000_000n + 10n * number,
        blockHash: buildBlockHash(index + 1),
        transactionHash: buildTransactionHash(index + 1),
      },
    };
  });
}

/** One server for all tests that do not change what it shows. */
const start = shareInFile(async () => {
  const state = buildState(buildEconomyEvents());
  const server = await startPublicServer({
    chain: replaceFeed(createStateViews(state).views, buildBatches(state)),
    transactionUrl: 'https://chain.example/tx/',
    publicUrl: 'https://wheel.example',
  });
  const readPage = async (path: string) => {
    const response = await server.get(path);
    return { status: response.status, html: await response.text() };
  };
  return { server, readPage };
});

const shown = (batch: number) => `href="/transactions/${buildTransactionHash(batch + 1)}"`;
/** The oldest, the ends of what was recorded at once, one in the middle, and the newest. */
const batches = [0, recordedAtOnce, recordedAtOnce + 1, 1_700, batchCount - 1];

describe('the page of a record', () => {
  it('finds the batch of a round and of a block', async () => {
    const { readPage } = await start();
    for (const batch of batches) {
      const height = 2 * (batch - Math.floor(batch / 3));
      const rounds = [3 * batch + 1, 3 * batch + 3].map((round) => `/rounds/${round}`);
      const paths = [
        ...rounds,
        `/ethereum-blocks/${1_000_000 + 10 * batch}`,
        `/transactions/${buildTransactionHash(batch + 1)}`,
      ];
      if (batch % 3 !== 2) paths.push(`/blocks/${height + 1}`, `/blocks/${height + 2}`);
      for (const path of paths) {
        const { status, html } = await readPage(path);
        expect([path, status, html.split('class="event ').length - 1]).toEqual([path, 200, 1]);
        expect(html).toContain(shown(batch));
      }
    }
    const nothing = await readPage('/ethereum-blocks/49');
    expect([nothing.status, nothing.html.includes('class="event ')]).toEqual([200, false]);
    expect(nothing.html).toContain('Nothing was settled or minted in this Ethereum block');
    for (const [block, reason] of [
      ['1', 'they begin with Ethereum block'],
      ['99999999', 'is not known yet'],
    ]) {
      const missing = await readPage(`/ethereum-blocks/${block}`);
      expect([missing.status, missing.html]).toEqual([404, expect.stringContaining(reason as string)]);
    }
    const laterBlock = await readPage('/blocks/1000005');
    expect([laterBlock.status, laterBlock.html]).toEqual([200, expect.stringContaining('not complete yet')]);
    // A round that is not settled has a page, without events.
    const later = await readPage(`/rounds/${3 * batchCount + 1}`);
    expect([later.status, later.html.includes('class="event ')]).toEqual([200, false]);
  });

  it('shows the hash of a transaction, also if nothing is known of it', async () => {
    const { readPage } = await start();
    const unknown = buildTransactionHash(batchCount + 1);
    const { status, html } = await readPage(`/transactions/${unknown}`);
    expect([status, html.includes('class="event ')]).toEqual([200, false]);
    expect(html).toContain('Nothing that the feed shows is known of this transaction');
    expect(html).toContain(`href="https://chain.example/tx/${unknown}"`);
  });

  it('finds any event by its ID', async () => {
    const { server, readPage } = await start();
    const [, path = ''] = /href="(\/events\/[^"]*)"/.exec((await readPage('/rounds/1')).html) ?? [];
    const event = await readPage(path);
    expect([event.status, event.html.includes(shown(0))]).toEqual([200, true]);
    expect(event.html).toMatch(/<time[^>]* title="\d+ [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d UTC">/);
    expect(event.html).toContain('Ethereum block <a href="/ethereum-blocks/1000000">1,000,000</a>');
    expect(event.html).toContain(`<link rel="canonical" href="https://wheel.example${path}"/>`);
    expect(event.html).toMatch(/property="og:description" content="[^"]*Rounds 1 to 3: 3 work units/);
    for (const unknown of [`${path}0`, '/miners/9999']) expect((await server.get(unknown)).status).toBe(404);
  });

  it('names the survivor of a miner that was merged before all that memory holds', async () => {
    const state = buildState(buildEconomyEvents());
    const evicted = { through: { position: 9, ordinal: 0 }, throughMs: 9, atPosition: 9 };
    const merge = buildFeedEvent(state, {
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
      chain: replaceFeed(createStateViews(state).views, [], evicted),
      olderEvents: {
        ...noOlderEvents,
        before: async (_from, { keys }) => (row.keys.some((key) => keys.includes(key)) ? [row] : []),
      },
    });
    const response = await server.get('/miners/77');
    expect([response.status, await response.text()]).toEqual([
      200,
      expect.stringContaining('It was merged into miner <a href="/miners/1">'),
    ]);
    expect((await server.get('/miners/78')).status).toBe(404);
  });

  it('says that events cannot be read, not that there are none', async () => {
    const server = await startPublicServer();
    const transaction = `/transactions/${buildTransactionHash(1)}`;
    for (const path of [transaction, '/ethereum-blocks/1', '/blocks/1', '/events/chain:1:x', '/rounds/1']) {
      const response = await server.get(path);
      expect([path, response.status]).toEqual([path, 503]);
      expect(await response.text()).toContain('Events cannot be read at the moment');
    }
  });
});

describe('the Atom feed of a category', () => {
  it('has the newest events of the feed', async () => {
    const { server } = await start();
    const response = await server.get('/feed.atom?category=protocol');
    expect(response.headers.get('content-type')).toBe('application/atom+xml; charset=utf-8');
    const xml = await response.text();
    const feed = await server.get('/v1/events?category=protocol');
    const { events } = (await feed.json()) as { events: { id: string }[] };
    expect([...xml.matchAll(/<entry><id>([^<]*)<\/id>/g)].map(([, id]) => id)).toEqual(
      events.map(({ id }) => id),
    );
    const [, path = ''] = /type="text\/html" href="https:\/\/wheel.example(\/events\/[^"]*)"/.exec(xml) ?? [];
    expect((await server.get(path)).status).toBe(200);
    const tag = response.headers.get('etag') as string;
    expect((await server.get('/feed.atom?category=protocol', { 'If-None-Match': tag })).status).toBe(304);
    expect((await server.get('/feed.atom?category=all&utm_source=x')).headers.get('etag')).not.toBe(tag);
  });

  it('is written again when the wheel or the chain has changed', async () => {
    const records = createSpeedRecords();
    const state = buildState(buildEconomyEvents());
    const { views, source } = createStateViews(state);
    const server = await startPublicServer({ chain: views, progress: records.progress });
    const countEntries = async () =>
      (await (await server.get('/feed.atom')).text()).split('<entry>').length - 1;
    records.add();
    const before = await countEntries();
    records.add();
    server.views.process = { ...server.views.process };
    expect(await countEntries()).toBe(before + 1);
    records.add();
    source.state = buildState(buildEconomyEvents(), { number: state.block.number + 1n });
    expect(await countEntries()).toBe(before + 2);
  });

  it('says while it cannot be read that it will be', async () => {
    const server = await startPublicServer();
    for (const query of ['', `?owner=0x${'a'.repeat(40)}`, '?miner=1']) {
      const { status, headers } = await server.get(`/feed.atom${query}`);
      expect([query, status, headers.get('retry-after')]).toEqual([query, 503, '2']);
    }
  });
});

describe('the Atom feed of an owner or a miner', () => {
  it('has what happened to it, and leads to its page', async () => {
    const state = buildState(buildEconomyEvents());
    const owner = stateOwner;
    const minted = { owner, tokenId: 1n, weight: 100n, firstRound: 2n, nextMergeBlock: 9n };
    const server = await startPublicServer({
      chain: replaceFeed(createStateViews(state).views, [
        buildFeedEvent(state, { type: 'player.miner_minted', ...minted }, 0),
      ]),
      publicUrl: 'https://wheel.example',
    });
    for (const [query, page, title] of [
      [`owner=${owner}`, `/owners/${owner}`, `owner ${owner}`],
      ['miner=1', '/miners/1', 'miner 1'],
    ] as const) {
      const response = await server.get(`/feed.atom?${query}`);
      const xml = await response.text();
      expect([query, response.status, response.headers.get('content-type')]).toEqual([
        query,
        200,
        'application/atom+xml; charset=utf-8',
      ]);
      expect(xml).toContain(`<title>Mining activity of wheel-1: ${title}</title>`);
      expect(xml).toContain(
        `rel="self" type="application/atom+xml" href="https://wheel.example/feed.atom?${query}"`,
      );
      expect(xml).toContain('<title>New miner</title>');
      expect(await (await server.get(page)).text()).toContain(
        `<link rel="alternate" type="application/atom+xml" href="/feed.atom?${query}"/>`,
      );
    }
    for (const query of ['owner=0x12', 'miner=0', 'miner=10000', 'miner=x'])
      await expectError(await server.get(`/feed.atom?${query}`), 404, 'not_found');
    // A miner has its owner and position.
    expect(await (await server.get('/miners/1')).text()).toContain(`href="/owners/${owner}"`);
  });
});

describe('the file of a list', () => {
  it('has all entries of its times in their order, and leads to the rest', async () => {
    const { server } = await start();
    let path: string | undefined = '/tables/batches.csv';
    const files: string[][] = [];
    while (path !== undefined) {
      const response: Response = await server.get(path);
      expect([response.status, response.headers.get('content-disposition')]).toEqual([
        200,
        expect.stringMatching(/filename="wheel-1-batches-[\d-]+(?:to-[\d-]+)?\.csv"/),
      ]);
      const [head, ...lines] = (await response.text()).trimEnd().split('\r\n');
      expect(head).toBe(
        'settled_at_utc,first_round,last_round,rounds_with_work,work_units,completed_work_blocks,all_work_units,all_completed_work_blocks,ethereum_block,transaction',
      );
      files.unshift(lines);
      path = /^<(.*)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1];
    }
    const rows = files.flat();
    expect([files.length, rows.length]).toEqual([2, batchCount]);
    expect(rows.map((row) => row.split(',')[1])).toEqual(rows.map((_, index) => String(3 * index + 1)));
  });

  it('refuses what its route refuses, and an owner that cannot be', async () => {
    const { server } = await start();
    for (const name of ['rounds', 'batches', 'checkpoints'])
      await expectError(await server.get(`/tables/${name}.csv?from=today`), 400, 'invalid_query');
    const wrong = [
      'days.csv?range=90d',
      'settlements.csv?from=2026-11-01',
      'year.csv?x',
      'day.csv?date=1&date=2',
    ];
    for (const file of wrong) await expectError(await server.get(`/tables/${file}`), 400, 'invalid_query');
    await expectError(await server.get('/tables/activity.csv?owner=0x12'), 404, 'not_found');
    const owned = await server.get(`/tables/activity.csv?owner=${stateOwner}`);
    expect([owned.status, (await owned.text()).split('\r\n')[0]]).toEqual([
      200,
      'at_utc,action,token_ids,claimed_base_units,from,to,level,ethereum_block,transaction',
    ]);
  });
});
