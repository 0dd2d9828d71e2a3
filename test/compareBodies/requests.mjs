// Every route with its variants. `ask(name, path, options)` asks one of them and resolves with its answer; a name stays
// the same where what is asked depends on an earlier answer, so that two records are compared answer by answer.
import { getAddress } from 'viem';
import { otherInstallations, publicInstallation } from './publications.mjs';

export const allowedOrigin = 'https://site.example';
const otherOrigin = 'https://elsewhere.example';
const ranges = ['7d', '30d'];
const categories = ['all', 'protocol', 'players', 'measurement'];
const installations = [publicInstallation, ...otherInstallations];
const base64url = (text) => Buffer.from(text).toString('base64url');
const encode = encodeURIComponent;

const settlementQueries = [
  ...['', '?range=now', '?range=24h', '?range=7d', '?range=30d'],
  ...['?range=', '?range=1d', '?range=7d&range=7d', '?range=7d&x=1', '?'],
];
const statisticsQueries = [
  ...ranges.map((range) => `?range=${range}`),
  ...['', '?range=', '?range=8d', '?range=7d&range=30d', '?range=7d&x=', '?Range=7d'],
];
const limitFaults = ['0', '101', '01', '', '-1', '1.5', '%201', 'abc'].map((limit) => `limit=${limit}`);
const cursorFaults = ['', '!!', 'AA', 'a'.repeat(513), base64url('{}'), base64url('1')].map(
  (cursor) => `cursor=${cursor}`,
);

/** Those that need no answer to another one. */
const plainPaths = [
  ...['', '?x=1'].map((query) => `/v1/public/telemetry${query}`),
  ...[...installations, 'nobody', 'a'.repeat(128)].map((id) => `/v1/public/installations/${id}/telemetry`),
  ...['a%20b', 'a'.repeat(129), '%zz', 'wheel%2Elocal', 'a/b', ''].flatMap((id) => [
    `/v1/public/installations/${id}/telemetry`,
    `/v1/public/installations/${id}/observations`,
  ]),
  ...['', '?x=1'].map((query) => `/v1/public/modules${query}`),
  ...['', '0', '1', '7', '101', 'abc', '1.5', '-1', '1e1', '%2B7'].map(
    (limit) => `/v1/public/installations/${publicInstallation}/observations?limit=${limit}`,
  ),
  ...[
    ...cursorFaults,
    `cursor=${base64url('0')}`,
    `cursor=${base64url('07')}`,
    `cursor=${base64url('999999999')}`,
  ].map((query) => `/v1/public/installations/${publicInstallation}/observations?${query}`),
  '/v1/public/installations/nobody/observations',
  ...['/v4/public/process', '/v1/status', '/v1/core', '/v1/mining/state', '/v2/public/miners/state'].flatMap(
    (path) => [path, `${path}?`, `${path}?x=`],
  ),
  ...statisticsQueries.flatMap((query) => [`/v2/public/stats${query}`, `/v1/measurement/stats${query}`]),
  ...settlementQueries.flatMap((query) => [`/v1/settlements${query}`, `/v4/public/settlements${query}`]),
  ...[
    '?queue=1',
    '?range=now&queue=1',
    '?range=7d&queue=1',
    '?queue=0',
    '?queue=',
    '?queue=1&queue=1',
  ].flatMap((query) => [`/v1/settlements${query}`, `/v4/public/settlements${query}`]),
  ...['/v1/events', '/v2/public/events'].flatMap((path) =>
    [
      ...limitFaults,
      ...cursorFaults,
      'category=',
      'category=other',
      'category=all&category=all',
      'x=1',
      'limit=1',
    ].map((query) => `${path}?${query}`),
  ),
  ...['/v1/events/stream?category=other', '/v1/events/stream?x=1'],
  ...[
    '0x',
    `0x${'0'.repeat(40)}`,
    `0x${'A'.repeat(40)}`,
    `0x${'a'.repeat(39)}`,
    `0x${'1'.repeat(40)}`,
  ].flatMap((owner) => [
    `/v1/owners/${owner}/miners`,
    `/v1/owners/${owner}/activity`,
    `/v2/public/miners/portfolio?owner=${owner}`,
    `/v2/public/miners/activity?owner=${owner}`,
  ]),
  ...['/v2/public/miners/portfolio', '/v2/public/miners/activity'],
  ...['0', '01', '9999', '10000', 'abc', '-1', '1.0'].flatMap((tokenId) => [
    `/v1/miners/${tokenId}/metadata`,
    `/v2/public/miners/metadata/${tokenId}`,
  ]),
  ...[
    '?release=',
    '?release=other-1',
    '?release=local-1&release=local-1',
    '?x=1',
    '?release=local-1',
  ].flatMap((query) =>
    ['1', '01'].flatMap((id) => [
      `/v1/miners/${id}/metadata${query}`,
      `/v2/public/miners/metadata/${id}${query}`,
    ]),
  ),
  ...['/openapi.json', '/docs', '/docs/start.js', '/docs/missing', '/healthz'],
  ...['/', '/v1', '/v1/statusx', '/v1/status/', '//v1/status', '/v1/../v1/status', '/V1/status', '/metrics'],
];

/** Whose answers are asked for in every way that HTTP knows. */
const httpPaths = [
  ...['/v1/public/telemetry', '/v1/public/modules', '/v4/public/process', '/v1/status', '/v1/core'],
  ...[
    '/v1/mining/state',
    '/v2/public/miners/state',
    '/v2/public/stats?range=7d',
    '/v1/measurement/stats?range=30d',
  ],
  ...['/v1/settlements', '/v1/settlements?range=7d', '/v4/public/settlements?range=now&queue=1'],
  ...['/v1/events', '/v2/public/miners/metadata/1?release=local-1', '/openapi.json', '/docs', '/healthz'],
  ...[`/v1/public/installations/${publicInstallation}/observations?limit=2`, '/v1/unknown', '/v1/status?x=1'],
];

/** Asks everything once. */
export async function askEverything(ask, askStream) {
  const get = (path, headers = {}, name = path) => ask(`GET ${name}`, { path, headers });
  for (const path of plainPaths) await get(path);
  for (const path of httpPaths) await askInEveryWay(ask, path);
  for (const id of installations) {
    await followPages(get, `/v1/public/installations/${id}/observations`, []);
    if (id !== publicInstallation)
      await followPages(get, `/v1/public/installations/${id}/observations`, ['limit=7']);
  }
  const events = await askEvents(get);
  await askOwners(get, events);
  await askTokens(get, events);
  for (const category of categories) {
    await askStream(`stream of ${category}`, `/v1/events/stream?category=${category}`, events.at(-1)?.id);
  }
  await askStream('stream of an unknown event', '/v1/events/stream', 'measurement:unknown');
}

async function askInEveryWay(ask, path) {
  const plain = await ask(`GET ${path}`, { path });
  for (const method of ['HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE'])
    await ask(`${method} ${path}`, { method, path });
  const tag = plain.headers.etag;
  const tags = {
    ...(tag !== undefined && { same: tag, weak: `W/${tag}`, listed: `"x", W/${tag} , "y"` }),
    ...{ any: '*', other: '"other"', invalid: 'no tag' },
  };
  for (const [name, value] of Object.entries(tags)) {
    for (const method of ['GET', 'HEAD']) {
      await ask(`${method} ${path} if-none-match ${name}`, {
        method,
        path,
        headers: { 'If-None-Match': value },
      });
    }
  }
  for (const encoding of ['gzip', 'br', 'gzip, br', 'deflate', 'identity;q=0, gzip;q=0.5', '*']) {
    await ask(`GET ${path} accept-encoding ${encoding}`, { path, headers: { 'Accept-Encoding': encoding } });
  }
  for (const origin of [allowedOrigin, otherOrigin, 'null']) {
    await ask(`GET ${path} origin ${origin}`, { path, headers: { Origin: origin } });
    const headers = { Origin: origin, 'Access-Control-Request-Method': 'GET' };
    await ask(`OPTIONS ${path} origin ${origin}`, { method: 'OPTIONS', path, headers });
  }
  for (const id of ['caller:1.2-3_4', 'short', 'not an ID']) {
    await ask(`GET ${path} request ID ${id}`, { path, headers: { 'X-Request-Id': id } });
  }
}

/** Asks a list page by page to its end; resolves with the bodies. */
async function followPages(get, path, parameters) {
  const bodies = [];
  let cursor = null;
  do {
    const query = [...parameters, ...(cursor === null ? [] : [`cursor=${cursor}`])];
    const separator = path.includes('?') ? '&' : '?';
    const asked = query.length === 0 ? path : `${path}${separator}${query.join('&')}`;
    const name = `${path} ${parameters.join('&')} page ${bodies.length + 1}`;
    const body = JSON.parse((await get(asked, {}, name)).body);
    bodies.push(body);
    cursor = body.nextCursor ?? null;
  } while (cursor !== null);
  return bodies;
}

/** Resolves with the events of the feed, newest first. */
async function askEvents(get) {
  const pages = await followPages(get, '/v1/events', ['limit=100']);
  await followPages(get, '/v1/events', []);
  for (const path of ['/v1/events', '/v2/public/events']) {
    for (const category of categories) await followPages(get, path, [`category=${category}`, 'limit=33']);
    const cursor = pages[0]?.nextCursor;
    if (cursor)
      await get(`${path}?category=players&cursor=${cursor}`, {}, `${path} cursor of another category`);
  }
  return pages.flatMap(({ events = [] }) => events);
}

/** Both lists of an owner, by their names on the plain and on the public routes. */
const ownerLists = [
  { plain: 'miners', listed: 'portfolio', otherPlain: 'activity', otherListed: 'activity' },
  { plain: 'activity', listed: 'activity', otherPlain: 'miners', otherListed: 'portfolio' },
];

async function askOwners(get, events) {
  const owners = [...new Set(events.flatMap(({ payload }) => payload.owner ?? []))].sort();
  let cursorOfPrevious = null;
  for (const owner of owners) {
    for (const { plain, listed, otherPlain, otherListed } of ownerLists) {
      const plainPath = `/v1/owners/${owner}/${plain}`;
      const publicPath = `/v2/public/miners/${listed}?owner=${owner}`;
      for (const path of [plainPath, publicPath]) await followPages(get, path, []);
      const [first] = await followPages(get, plainPath, ['limit=3']);
      await followPages(get, publicPath, ['limit=3']);
      await get(`/v1/owners/${getAddress(owner)}/${plain}`);
      await get(`/v1/owners/${owner.toUpperCase().replace('X', 'x')}/${plain}`);
      await get(`/v2/public/miners/${listed}?owner=${getAddress(owner)}`);
      const cursors = { 'the other list': first?.nextCursor, 'another owner': cursorOfPrevious };
      for (const [origin, cursor] of Object.entries(cursors)) {
        if (!cursor) continue;
        const paths = [
          `/v1/owners/${owner}/${otherPlain}?`,
          `/v2/public/miners/${otherListed}?owner=${owner}&`,
        ];
        for (const path of paths) await get(`${path}cursor=${cursor}`, {}, `${path} cursor of ${origin}`);
      }
      cursorOfPrevious = first?.nextCursor ?? cursorOfPrevious;
      if (owner !== owners[0]) continue;
      for (const fault of [...limitFaults, ...cursorFaults, 'x=1', `owner=${owner}`]) {
        await get(`${plainPath}?${fault}`);
        await get(`${publicPath}&${fault}`);
      }
    }
  }
}

async function askTokens(get, events) {
  const named = events.flatMap(({ payload }) => [
    payload.tokenId,
    payload.donorTokenId,
    ...(payload.tokenIds ?? []),
  ]);
  const tokenIds = [...new Set(named.filter((tokenId) => tokenId !== undefined))].sort((a, b) => a - b);
  for (const tokenId of tokenIds.map(encode)) {
    await get(`/v1/miners/${tokenId}/metadata`);
    await get(`/v2/public/miners/metadata/${tokenId}`);
    await get(`/v2/public/miners/metadata/${tokenId}?release=local-1`);
  }
}
