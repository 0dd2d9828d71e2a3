import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodeOwnerCursor } from '../../actors/views/chain/ownerViews.ts';
import { findPlace } from '../../http/addresses/findPlace.ts';
import { formatPlace } from '../../http/addresses/place.ts';
import { type Known, search } from '../../http/addresses/search.ts';
import { rateClasses } from '../../http/routes/rateClasses.ts';
import {
  cachedPagesBytesMax,
  cachedPagesMax,
  createPageCache,
  sharedMs,
} from '../../http/server/pages/pageReads.ts';
import {
  buildEconomyEvents,
  buildState,
  createEconomyViews,
  createStateViews,
  stateBlock,
  stateOwner,
} from '../support/chain/economyState.ts';
import { replaceFeed } from '../support/chain/feedOfEvents.ts';
import { buildBlockHash } from '../support/chain/hashes.ts';
import { expectError } from '../support/http/expectError.ts';
import { startPublicServer, type TestPublicServer } from '../support/http/publicServer.ts';
import { startRecordsServer } from '../support/http/recordsServer.ts';
import { shareInFile } from '../support/processes/lifetime.ts';
import { createSpeedRecords } from '../support/readings/speedRecords.ts';
import { noOlderEvents } from '../support/storage/noOlderRows.ts';

/** Largest size of the page's script, without compression. */
const scriptBytesMax = 20 * 1024;

const build = join(import.meta.dirname, '../../dist/deploy/explorer/public');
const names: string[] = JSON.parse(readFileSync(join(build, 'names.json'), 'utf8'));
const findName = (pattern: RegExp) => names.find((name) => pattern.test(name)) as string;

const paths = [
  '/',
  '/statistics',
  '/settlements',
  '/owners',
  `/owners/0x${'ab'.repeat(20)}`,
  '/feed',
  '/about',
];

const sharedServer = shareInFile(() => startPublicServer());
const readTag = async ({ get }: Pick<TestPublicServer, 'get'>, path: string) =>
  (await get(path)).headers.get('etag');

describe('pages of the explorer', () => {
  it.each(paths)('%s is HTML with a tag, revalidated, under a strict policy', async (path) => {
    const server = await sharedServer();
    const response = await server.get(path);
    const { status, headers } = response;
    const { 'content-security-policy': policy = '', ...others } = Object.fromEntries(headers);
    expect([status, others]).toMatchObject([
      200,
      {
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'public, max-age=0, must-revalidate',
        'x-content-type-options': 'nosniff',
        'cross-origin-opener-policy': 'same-origin',
        'permissions-policy': expect.stringContaining('camera=()'),
        'referrer-policy': 'no-referrer',
      },
    ]);
    expect(others).not.toHaveProperty('set-cookie');
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|http/);
    const html = await response.text();
    expect(html).not.toMatch(/ style="|<style|<script(?![^>]* src=)|\son[a-z]+="/);
    // Its own address is not known, so nothing is claimed about it.
    expect(html).not.toMatch(/rel="canonical"|property="og:(?:url|image)"/);
    expect([...html.matchAll(/(?:src|href|content)="(https?:[^"]*)"/g)]).toEqual([]);
    const tag = headers.get('etag') as string;
    const again = await server.get(path, { 'If-None-Match': tag });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const head = await server.get(path, {}, 'HEAD');
    expect([head.status, head.headers.get('etag')]).toEqual([200, tag]);
  });

  it('are rendered once per change of what they show', async () => {
    const { server, records } = await startRecordsServer(1);
    const tags = [await readTag(server, '/')];
    const expectChange = async (isChanged: boolean) => {
      const tag = await readTag(server, '/');
      expect(tag === tags.at(-1)).toBe(!isChanged);
      tags.push(tag);
    };
    server.clock.advance(sharedMs - 1);
    await expectChange(false);
    // A reading alone changes it when it has been shared for a while.
    server.views.process = { ...server.views.process, measurement: null };
    await expectChange(false);
    server.clock.advance(1);
    await expectChange(true);
    await expectChange(false);
    // An event changes it at once, and so does the end of the open round.
    records.add();
    await expectChange(true);
    server.clock.advance(600_000 - sharedMs - 1);
    await expectChange(true);
    server.clock.advance(1);
    await expectChange(true);
    expect(new Set(tags).size).toBe(5);
  });

  it('keep their tag while only the time of their rendering differs, for whoever asks again', async () => {
    const server = await startPublicServer();
    const read = async (tag = '') => {
      const response = await server.get('/about', { 'If-None-Match': tag });
      const [, renderedAt] = /data-rendered-at="([^"]+)"/.exec(await response.text()) ?? [];
      return { status: response.status, tag: response.headers.get('etag') ?? '', renderedAt };
    };
    const first = await read();
    expect(first.tag).toMatch(/^W\//);
    server.clock.advance(sharedMs);
    server.views.process = { ...server.views.process };
    expect(await read(first.tag)).toMatchObject({ status: 304, tag: first.tag });
    const second = await read();
    expect(second).toMatchObject({ status: 200, tag: first.tag });
    expect(second.renderedAt).not.toBe(first.renderedAt);
    server.clock.advance(sharedMs);
    server.views.process = { ...server.views.process, installationId: 'another' };
    expect(await read(first.tag)).toMatchObject({ status: 200, tag: expect.not.stringContaining(first.tag) });
  });

  it('keep their tag while the chain only grows', async () => {
    const settle = (number: bigint, settledRound = 9n) =>
      buildState(buildEconomyEvents({ settledRound, processedRound: 4n }), { number });
    const { views, source } = createStateViews(settle(100n));
    const server = await startPublicServer({ chain: views });
    const readTag = async () => {
      server.clock.advance(sharedMs);
      const response = await server.get('/about');
      const [, block] = / data-safe-block="(\d+)"/.exec(await response.text()) ?? [];
      return [block, response.headers.get('etag')];
    };
    const [, tag] = await readTag();
    source.state = settle(101n);
    expect(await readTag()).toEqual(['101', tag]);
    source.state = settle(102n, 10n);
    expect(await readTag()).toEqual(['102', expect.not.stringContaining(tag ?? '')]);
  });

  it('are written again if an event has happened while their rows were read', async () => {
    const evicted = { through: { position: 9, ordinal: 0 }, throughMs: 9, atPosition: 9 };
    const chain = replaceFeed(createEconomyViews().views, [], evicted);
    const records = createSpeedRecords();
    const waiting: (() => void)[] = [];
    const read: (readonly string[])[] = [];
    const server = await startPublicServer({
      chain,
      progress: records.progress,
      olderEvents: {
        ...noOlderEvents,
        before: (_from, { keys }) => {
          read.push(keys);
          return new Promise((resolve) => waiting.push(() => resolve([])));
        },
      },
    });
    const ask = async () => {
      const asked = server.get('/feed?category=players');
      await expect.poll(() => waiting.length).toBe(1);
      return { answer: () => waiting.pop()?.(), asked };
    };
    const first = await ask();
    records.add();
    first.answer();
    expect((await first.asked).status).toBe(200);
    const second = await ask();
    second.answer();
    expect((await second.asked).status).toBe(200);
    // Nothing has happened since.
    expect((await server.get('/feed?category=players')).status).toBe(200);
    expect(read).toEqual([['players'], ['players']]);
  });

  it('exist before state is restored, where routes say 503, and say so', async () => {
    const server = await startPublicServer();
    server.hasViews = false;
    expect((await server.get('/v1/status')).status).toBe(503);
    const response = await server.get('/');
    // An open page keeps what it shows.
    expect([response.status, response.headers.get('retry-after')]).toEqual([
      503,
      expect.stringMatching(/^\d+$/),
    ]);
    const starting = /the service is starting|<noscript><meta http-equiv="refresh"/g;
    expect(new Set((await response.text()).match(starting)).size).toBe(2);
    server.hasViews = true;
    expect((await (await server.get('/')).text()).match(starting)).toBeNull();
  });

  it('show unreadable parts as they were, with their date', async () => {
    const { server } = await startRecordsServer(1);
    const html = async (path: string) => {
      server.clock.advance(sharedMs);
      const response = await server.get(path);
      return [response.status, await response.text()] as const;
    };
    const notice = 'cannot be read at the moment';
    const paths = ['/', '/statistics', '/days/2026-01-31', '/miners/1'];
    for (const path of paths) expect(await html(path)).toEqual([200, expect.not.stringContaining(notice)]);
    // Statistics are being rebuilt, for hours.
    server.ready = false;
    server.clock.advance(7_200_000);
    server.views.process = { ...server.views.process, measurement: null };
    for (const path of paths.slice(0, 3)) {
      const [status, text] = await html(path);
      expect([path, status]).toEqual([path, 200]);
      expect(text).toMatch(
        /Statistics cannot be read at the moment.*last read: <time dateTime="2026-01-31T12:00/is,
      );
      expect(text).not.toContain('cannot be shown at the moment');
    }
    expect((await html('/'))[1]).toContain('The wheel has not reported yet.');
    // A page that nobody has asked for yet, and files, have nothing to show.
    expect((await html('/statistics?range=30d'))[0]).toBe(200);
    for (const file of ['days.csv', 'half-hours.csv?date=2026-01-31'])
      expect([file, (await html(`/tables/${file}`))[0]]).toEqual([file, 503]);
    // A page that is asked for again and again keeps it, however many others are read.
    for (let page = 0; page < 2 * cachedPagesMax; page++) {
      await html(`/transactions/0x${String(page).padStart(64, '0')}`);
      if (page % 32 === 31) expect((await html('/statistics'))[1]).toContain('last read: ');
    }
    server.ready = true;
    for (const path of paths) expect((await html(path))[1]).not.toContain(notice);
  });

  it('say that a wheel is out of touch if its state is unreadable', async () => {
    const server = await startPublicServer();
    expect(await (await server.get('/')).text()).toMatch(/The wheel is (?:turning|resting)/);
    // A body that its schema refuses.
    server.views.process = { ...server.views.process, installationId: 'an impossible one' };
    server.clock.advance(sharedMs);
    const response = await server.get('/');
    const text = await response.text();
    expect(response.status).toBe(200);
    expect(text).toContain('The wheel is out of touch');
    expect(text).not.toContain('an impossible one');
  });

  it('do not show what a route’s schema refuses', async () => {
    const server = await startPublicServer({ installationId: 'an impossible one' });
    expect((await server.get('/v1/status')).status).toBe(500);
    const response = await server.get('/');
    expect(response.status).toBe(503);
    const html = await response.text();
    expect(html).not.toContain('an impossible one');
    expect(html).toContain('cannot be shown at the moment');
  });

  it('ignore unknown parameters, so that they do not fill memory', async () => {
    const server = await sharedServer();
    const plain = await readTag(server, '/statistics');
    expect(await readTag(server, '/statistics?range=9d&utm_source=x')).toBe(plain);
    expect(await readTag(server, '/statistics?range=30d')).not.toBe(plain);
  });

  it.each([
    ['/nosuch', 'There is no page at this address'],
    ['/owners/%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E', 'An address begins with 0x'],
    ['/owners/%ED%A0%BD', 'An address begins with 0x'],
    ['/owners/0x12', 'this has 2'],
    [`/owners/0x${'0'.repeat(40)}`, 'Nobody owns the zero address'],
    ['/owners/0X12', 'this has 2'],
    [`/owners/0X${'aB'.repeat(20)}`, 'The checksum is wrong'],
    [`/owners/0x${'aB'.repeat(20)}`, 'The checksum is wrong'],
    [`/owners/0x${'aB'.repeat(20)}`, `href="/owners/0x${'ab'.repeat(20)}"`],
    ['/?owner=0x12', 'this has 2'],
    [`/?owner=0x${'aB'.repeat(20)}`, 'The checksum is wrong'],
    ['/miners/10000', 'from 1 to 9999'],
    ['/rounds/x', 'A round has a number from 1 to 999999999.'],
    ['/transactions/0x12', 'A transaction has 0x'],
    ['/rounds/9999999999', 'A round has a number from 1 to 999999999.'],
    ['/rounds/0', 'A round has a number from 1 to 999999999.'],
    ['/days/2026-02-30', 'There is no such date'],
    ['/days/yesterday', 'A day has a date'],
    ['/events/x', 'Events and blocks have no pages'],
    ['/ethereum-blocks/17', 'Events and blocks have no pages'],
    ['/ethereum-blocks/x', 'href="/feed"'],
    ['/search?q=hello', 'Nothing found. Search for'],
  ])('%s is a page with status 404, which runs and prints nothing of it', async (path, sentence) => {
    const response = await (await sharedServer()).get(path, { Accept: 'text/html,*/*;q=0.8' });
    expect([response.status, Object.fromEntries(response.headers)]).toMatchObject([
      404,
      { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
    ]);
    expect(response.headers.get('etag')).toBeNull();
    const html = await response.text();
    expect(html).toContain(sentence);
    expect(html).not.toMatch(/alert\(|<script(?! defer src=)|rel="canonical"|Printed from/);
  });

  it('are errors to programs where no page is', async () => {
    const server = await sharedServer();
    for (const headers of [{ Accept: 'application/json' }, { Accept: '*/*' }, {}])
      await expectError(await server.get('/nosuch', headers), 404, 'not_found');
    await expectError(await server.get('/nosuch', { Accept: 'text/html' }, 'POST'), 404, 'not_found');
    for (const path of ['/v1/nosuch', '/v3', '/explorer/nosuch.js'])
      await expectError(await server.get(path, { Accept: 'text/html' }), 404, 'not_found');
  });

  it('are for browsers that are refused, and errors for programs', async () => {
    const html = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    const server = await startPublicServer({ rateLimits: true });
    const owner = `/owners/0x${'ab'.repeat(20)}`;
    for (let count = 0; count < rateClasses.publicHeavy.burst; count++) await server.get(owner);
    const refused = await server.get(owner, html);
    const body = await refused.text();
    expect([refused.status, Object.fromEntries(refused.headers)]).toMatchObject([
      429,
      {
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'retry-after': '1',
        'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
        ratelimit: '"publicHeavy";r=0;t=1',
        link: '</docs/errors#rate_limited>; rel="help"',
      },
    ]);
    expect(body).toContain('<h1 id="refused">Too many requests</h1>');
    expect(body).toMatch(/<nav class="places".*<a href>Try again<\/a>/s);
    expect(body).toContain('<noscript><meta http-equiv="refresh" content="10"/></noscript>');
    expect(Buffer.byteLength(body)).toBeLessThan(4_096);
    expect(await (await server.get(`/owners/0x${'cd'.repeat(20)}`, html)).text()).toBe(body);
    await expectError(await server.get(owner), 429, 'rate_limited');
    await expectError(await server.get('/v1/events', html), 429, 'rate_limited');
    const starting = await startPublicServer({ hasViews: false });
    const missing = await starting.get('/tables/nosuch.csv', html);
    await expectError(await starting.get('/v1/core?page=2'), 400, 'invalid_query');
    expect((await starting.get('/tables/constructor', html)).status).toBe(404);
    expect([missing.status, await missing.text()]).toEqual([404, expect.stringContaining('Not found')]);
  });

  it('refuse an address of a list as the list does', async () => {
    const server = await startPublicServer({ chain: createEconomyViews().views });
    const html = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    const tooOld = encodeOwnerCursor({
      list: 'activity',
      block: stateBlock.number - 1n,
      blockHash: buildBlockHash(9),
      owner: stateOwner,
      after: 1,
    });
    for (const [path, status, code, sentence] of [
      ['/feed?cursor=bad', 400, 'invalid_cursor', 'No such page of the list'],
      ['/feed?cursor=', 400, 'invalid_query', 'No such page of the list'],
      [`/owners/${stateOwner}?list=activity&cursor=bad`, 400, 'invalid_cursor', 'No such page of the list'],
      [`/owners/${stateOwner}?list=activity&cursor=${tooOld}`, 409, 'cursor_invalidated', 'has moved on'],
    ] as const) {
      const page = await server.get(path, html);
      const body = await page.text();
      expect([path, page.status, page.headers.get('content-type')]).toEqual([
        path,
        status,
        'text/html; charset=utf-8',
      ]);
      expect(body).toContain(sentence);
      expect(body).toContain('<a href="?">First page</a>');
      await expectError(await server.get(path), status, code);
    }
  });

  it('are one page of an owner, however its address is written', async () => {
    const server = await sharedServer();
    const address = '0x52908400098527886e0f7030069857d2e4169ee7';
    const tag = await readTag(server, `/owners/${address}`);
    for (const same of ['0x52908400098527886E0F7030069857D2E4169EE7', `${address}?utm_source=x`])
      expect(await readTag(server, `/owners/${same}`)).toBe(tag);
    expect(await readTag(server, `/owners/0x${'ab'.repeat(20)}`)).not.toBe(tag);
  });

  it.each([
    ['owners', checksummed.slice(2), checksummed.toLowerCase()],
    ['owners', checksummed.replace('0x', '0X'), checksummed.toLowerCase()],
    ['owners', `0X${checksummed.slice(2).toUpperCase()}`, checksummed.toLowerCase()],
    ['owners', `0x${checksummed.slice(2).toUpperCase()}`, checksummed.toLowerCase()],
    ['transactions', transaction.slice(2), transaction.toLowerCase()],
    [
      'events',
      `chain:1:0x${'a'.repeat(40)}:${transaction.toLowerCase()}:0:x`,
      transaction.toLowerCase(),
      'transactions',
    ],
    ['events', 'measurement:wheel:v1:measurement.speed_record:834', '?category=measurement', 'feed'],
    ['?owner=', checksummed.slice(2), `?owner=${checksummed.toLowerCase()}`, ''],
  ])('lead for %s from %s to the usual form', async (view, written, usual, name = view) => {
    const { base } = await sharedServer();
    const path = view.endsWith('=') ? view : `${view}/`;
    const response = await fetch(`${base}/${path}${written}`, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([
      303,
      `/${name}${usual.startsWith('?') ? '' : '/'}${usual}`,
    ]);
  });

  it('have an image of each chart, which says whose it is', async () => {
    const server = await startPublicServer({
      chain: createStateViews(buildState(buildEconomyEvents())).views,
    });
    const ofOwner = await server.get(`/tables/earnings.svg?owner=${stateOwner}`);
    expect(await ofOwner.text()).toMatch(new RegExp(`Mining activity of wheel.* Owner ${stateOwner}\\.`));
    const image = await server.get('/tables/half-hours.svg');
    expect([image.status, image.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
    expect(await image.text()).toMatch(
      /^<svg .*Half hours of 25 Jan to 31 Jan.*work units.*Mining activity of wheel/s,
    );
    const links = [
      ...(await (await server.get('/statistics')).text()).matchAll(/href="(\/tables\/[^"]*svg[^"]*)"/g),
    ];
    expect(links).toHaveLength(2);
    for (const [, link = ''] of links) expect([link, (await server.get(link)).status]).toEqual([link, 200]);
    expect((await server.get(`/tables/activity.svg?owner=0x${'ab'.repeat(20)}`)).status).not.toBe(200);
  });

  it('share the rate limit of what they show: tables are expensive', async () => {
    const server = await startPublicServer({ rateLimits: true });
    const readClass = async (path: string) =>
      /"(\w+)"/.exec((await server.get(path)).headers.get('ratelimit') ?? '')?.[1];
    expect(await readClass('/tables/nosuch.csv')).toBe('other');
    expect(await readClass('/')).toBe('other');
    for (const path of [`/owners/${stateOwner}`, `/?owner=${stateOwner}`])
      expect([path, await readClass(path)]).toEqual([path, 'publicHeavy']);
    for (const name of ['half-hours', 'days', 'settlements', 'earnings', 'activity'])
      expect([name, await readClass(`/tables/${name}.csv`)]).toEqual([name, 'publicHeavy']);
  });

  it('take a bounded amount of memory, whichever are asked for', () => {
    const cache = createPageCache<{ bytes: number }>();
    const listed = new Map<string, { bytes: number }>();
    const countCached = () => [...listed].filter(([place, page]) => cache.get(place) === page).length;
    const add = (place: string, bytes: number) => {
      const page = { bytes };
      listed.set(place, page);
      cache.set(place, page);
    };
    for (let page = 0; page < 1_000; page++) add(`/owners/${page}`, 1_000);
    expect(countCached()).toBe(cachedPagesMax);
    // The same page again takes the place of the earlier one.
    for (let page = 0; page < 10; page++) add('/owners/999', 1_000);
    expect(countCached()).toBe(cachedPagesMax);
    for (let page = 0; page < 100; page++) add(`/large/${page}`, cachedPagesBytesMax / 4);
    expect(countCached()).toBe(4);
    expect(cache.get('/large/99')).toBeDefined();
  });

  it('are refused to a browser on another website, as everything is', async () => {
    const { get } = await sharedServer();
    expect((await get('/', { Origin: 'https://elsewhere.example' })).status).toBe(403);
  });
});

describe('files of the explorer', () => {
  it('have names that change with their contents, and may be kept for ever', async () => {
    const server = await sharedServer();
    const html = await (await server.get('/')).text();
    for (const pattern of [/^page\..+\.js$/, /^style\..+\.css$/]) {
      const name = findName(pattern);
      expect(html).toContain(`/explorer/${name}`);
      const response = await server.get(`/explorer/${name}`, { 'Accept-Encoding': 'gzip, br' });
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(response.headers.get('content-encoding')).toBe('br');
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(1_000);
    }
    expect((await server.get('/explorer/..%2FrenderPage.cjs')).status).toBe(404);
    expect((await server.get('/explorer/names.json')).status).toBe(404);
  });

  it('need less script than 20 KB', () => {
    const script = readFileSync(join(build, findName(/^page\..+\.js$/)));
    expect(script.length).toBeLessThan(scriptBytesMax);
  });
});

describe('what other sites and programs show', () => {
  it('is in no frame', async () => {
    const server = await sharedServer();
    const readPolicy = async (path: string) =>
      (await server.get(path, { Accept: 'text/html' })).headers.get('content-security-policy');
    for (const path of [...paths, '/search?q=5', '/rounds/1', '/nosuch', '/docs', '/docs/reference'])
      expect([path, await readPolicy(path)]).toEqual([
        path,
        expect.stringMatching(/frame-ancestors 'none'$/),
      ]);
  });

  it('has an icon and rules for crawlers', async () => {
    const server = await sharedServer();
    expect(await (await server.get('/robots.txt')).text()).toContain('Disallow: /v1/events/stream\n');
    for (const path of ['/favicon.svg', '/favicon.ico']) {
      const icon = await server.get(path);
      expect(icon.headers.get('content-type')).toBe('image/svg+xml');
      expect(await icon.text()).toContain('<svg');
    }
  });
});

const transaction = `0x${'AB'.repeat(32)}`;
const checksummed = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const nowMs = Date.UTC(2026, 10, 24, 18);

const nothingKnown: Known = {
  nowMs,
  genesisMs: null,
  firstDay: null,
  mayBeMiner: () => true,
};

it.each([
  '/',
  '/statistics',
  '/statistics?range=30d',
  '/settlements',
  '/settlements?range=now',
  '/owners',
  `/owners/0x${'ab'.repeat(20)}`,
  '/feed',
  '/feed?category=players',
  '/miners/12',
  '/rounds/1234',
  `/transactions/${transaction.toLowerCase()}`,
  '/days/2026-11-22',
  `/?owner=0x${'ab'.repeat(20)}`,
])('%s is read as it is written', (address) => {
  const [path = '', query = ''] = address.split('?');
  const place = findPlace(path, query, () => nothingKnown);
  expect(typeof place === 'string' ? place : formatPlace(place)).toBe(address);
});

describe('the search', () => {
  const known: Known = {
    nowMs: Date.UTC(2026, 10, 24, 12),
    genesisMs: Date.UTC(2026, 0, 31, 12),
    firstDay: '2026-01-31',
    mayBeMiner: (id) => Number(id) <= 3_000 || Number(id) >= 9_999,
  };

  it.each([
    [` 0x${'ab'.repeat(20)} `, `/owners/0x${'ab'.repeat(20)}`],
    ['ab'.repeat(20), `/owners/0x${'ab'.repeat(20)}`],
    ['12'.repeat(20), `/owners/0x${'12'.repeat(20)}`],
    [`0X${'ab'.repeat(20)}`, `/owners/0x${'ab'.repeat(20)}`],
    [`0X${'AB'.repeat(20)}`, `/owners/0x${'ab'.repeat(20)}`],
    [checksummed, `/owners/${checksummed}`],
    [checksummed.slice(2), `/owners/${checksummed}`],
    [checksummed.replace('0x', '0X'), `/owners/${checksummed}`],
    [transaction.slice(2), `/transactions/${transaction.toLowerCase()}`],
    [transaction.replace('0x', '0X'), `/transactions/${transaction.toLowerCase()}`],
    ['0x12', '/owners/0x12'],
    ['0X12', '/owners/0x12'],
    ['0x1/../x', '/owners/0x1%2F..%2Fx'],
    [transaction, `/transactions/${transaction.toLowerCase()}`],
    ['#12', '/miners/12'],
    ['miner 12', '/miners/12'],
    ['Token #12', '/miners/12'],
    ['round 1,234', '/rounds/1234'],
    ['round 007', '/rounds/7'],
    ['9,998', '/rounds/9998'],
    ['10,000', '/rounds/10000'],
    ['42769', '/rounds/42769'],
    ['chain:1:0xa:0xb:0:x', '/events/chain%3A1%3A0xa%3A0xb%3A0%3Ax'],
    ['today', '/days/2026-11-24'],
    ['Yesterday', '/days/2026-11-23'],
    ['2026-11-22', '/days/2026-11-22'],
    ['2026-2-3', '/days/2026-02-03'],
    ['22 Nov 2026', '/days/2026-11-22'],
    ['22nd November, 2026', '/days/2026-11-22'],
    ['Nov 22 2026', '/days/2026-11-22'],
    ['November 22, 2026', '/days/2026-11-22'],
    ['22.11.2026', '/days/2026-11-22'],
    ['22.11.', '/days/2026-11-22'],
    ['22 November', '/days/2026-11-22'],
    ['Nov 24', '/days/2026-11-24'],
    ['2026-01-31', '/days/2026-01-31'],
    ['2026-11-24', '/days/2026-11-24'],
  ])('goes from %s to %s', (text, address) => {
    expect(search(text, known)).toBe(address);
  });

  it.each([
    ['1234', ['/miners/1234', '/rounds/1234']],
    ['9999', ['/miners/9999', '/rounds/9999']],
    ['block 1600', []],
    ['42770', []],
    ['1000000', []],
    ['0', []],
    ['25 November', ['/days/2026-01-31']],
    ['2026-11-25', []],
    ['2026-01-30', ['/days/2026-01-31']],
    ['', []],
    ['wheel', []],
    ['2026-13-45', []],
    ['2027-01-01', []],
    ['2025-01-01', ['/days/2026-01-31']],
    ['9'.repeat(500), []],
  ])('offers for %s the pages %s, and says why', (text, addresses) => {
    const found = search(text, known);
    if (typeof found === 'string') throw new Error(found);
    expect(found.others.map(formatPlace)).toEqual(addresses);
    expect(found.reason).toMatch(/\.$/);
  });

  it.each(['2026-02-30', '2026-13-45', '31 Jun 2026', '30 Feb', '32.1.2026'])(
    'says that there is no date %s',
    (text) => {
      expect(search(text, known)).toMatchObject({ reason: 'There is no such date.' });
    },
  );

  it('redirects to the page, and asks which one a number stands for', async () => {
    const { base, get } = await sharedServer();
    const response = await fetch(`${base}/search?q=round+5`, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([303, '/rounds/5']);
    expect([response.headers.get('cache-control'), await response.text()]).toEqual(['no-store', '']);
    const read = async (query: string) => {
      const page = await get(`/search?q=${query}`);
      return { status: page.status, html: await page.text() };
    };
    expect((await read('%22%3Ehello')).html).toMatch(/<input[^>]* value="&quot;>hello"/);
    expect((await read('other')).html).toMatch(/<input[^>]* value="other"/);
    const which = await read('5');
    expect(which.status).toBe(200);
    expect(which.html).toMatch(/<title>Which one\? · .*href="\/rounds\/5"/s);
  });
});
