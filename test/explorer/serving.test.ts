import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { formatPlace, parsePlace } from '../../http/explorer/place.ts';
import { startPublicServer } from '../support/http/publicServer.ts';

/** Of the browser's program, compressed (http/explorer/README.md). */
const scriptBytesMax = 35 * 1024;

const build = join(import.meta.dirname, '../../dist/deploy/explorer/public');
const names: string[] = JSON.parse(readFileSync(join(build, 'names.json'), 'utf8'));
const findName = (pattern: RegExp) => names.find((name) => pattern.test(name)) as string;

const paths = ['/', '/statistics', '/settlements', '/owners', `/owners/0x${'ab'.repeat(20)}`, '/feed'];

describe('pages of the explorer', () => {
  it.each(paths)('%s is HTML with a tag, revalidated, under a strict policy', async (path) => {
    const server = await startPublicServer();
    const response = await server.get(path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('public, max-age=0, must-revalidate');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    expect(policy).not.toContain('http');
    expect(response.headers.get('set-cookie')).toBeNull();
    const html = await response.text();
    expect(html).not.toMatch(/ style="|<style|<script(?![^>]* src=)|\son[a-z]+="/);
    expect([...html.matchAll(/(?:src|href|content)="(https?:[^"]*)"/g)]).toEqual([]);
    const tag = response.headers.get('etag') as string;
    const again = await server.get(path, { 'If-None-Match': tag });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const head = await server.get(path, {}, 'HEAD');
    expect([head.status, head.headers.get('etag')]).toEqual([200, tag]);
  });

  it('are rendered once per change of what they show', async () => {
    const server = await startPublicServer();
    const readTag = async (path: string) => (await server.get(path)).headers.get('etag');
    const before = await readTag('/');
    // The clock of the round would be another one by now.
    server.clock.advance(1_000);
    expect(await readTag('/')).toBe(before);
    server.views.process = { ...server.views.process, measurement: null };
    expect(await readTag('/')).not.toBe(before);
  });

  it('exist before state is restored, where routes say 503, and say so', async () => {
    const server = await startPublicServer();
    server.hasViews = false;
    expect((await server.get('/v1/status')).status).toBe(503);
    const response = await server.get('/');
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('the service is starting');
    server.hasViews = true;
    expect(await (await server.get('/')).text()).not.toContain('the service is starting');
  });

  it('do not show what a route’s schema refuses', async () => {
    const server = await startPublicServer({ installationId: 'an impossible one' });
    expect((await server.get('/v1/status')).status).toBe(500);
    const response = await server.get('/');
    expect(response.status).toBe(200);
    const html = await response.text();
    expect(html).not.toContain('an impossible one');
    expect(html).toContain('cannot be shown at the moment');
  });

  it('ignore parameters that they do not know, so that nobody fills the memory with pages', async () => {
    const server = await startPublicServer();
    const plain = (await server.get('/statistics')).headers.get('etag');
    expect((await server.get('/statistics?range=9d&utm_source=x')).headers.get('etag')).toBe(plain);
    expect((await server.get('/statistics?range=30d')).headers.get('etag')).not.toBe(plain);
  });

  it('escape what an address brings along', async () => {
    const server = await startPublicServer();
    const html = await (await server.get('/owners/%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E')).text();
    expect(html).not.toContain('<script>alert');
    expect(html).toContain('An address begins with 0x.');
  });

  it('count against the rate limit of other documents, and no route’s', async () => {
    const server = await startPublicServer({ rateLimits: true });
    const statuses = new Set<number>();
    for (let count = 0; count < 80; count++) statuses.add((await server.get('/')).status);
    expect(statuses).toEqual(new Set([200, 429]));
    expect((await server.get('/v1/status')).status).toBe(200);
  });

  it('are refused to a browser on another website, as everything is', async () => {
    const server = await startPublicServer();
    expect((await server.get('/', { Origin: 'https://elsewhere.example' })).status).toBe(403);
  });
});

describe('files of the explorer', () => {
  it('have names that change with their contents, and may be kept for ever', async () => {
    const server = await startPublicServer();
    const html = await (await server.get('/')).text();
    for (const pattern of [/^explorer\..+\.js$/, /^style\..+\.css$/]) {
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

  it('need less script than 35 KB', () => {
    const script = readFileSync(join(build, findName(/^explorer\..+\.js$/)));
    const compressed = gzipSync(script);
    expect(gunzipSync(compressed).equals(script)).toBe(true);
    expect(compressed.length).toBeLessThan(scriptBytesMax);
  });
});

describe('addresses of places', () => {
  it.each([
    '/',
    '/statistics',
    '/statistics?range=30d',
    '/settlements',
    '/settlements?range=now',
    '/owners',
    '/owners/0x12',
    '/feed',
    '/feed?category=players',
  ])('%s is read as it is written', (address) => {
    const [path = '', query = ''] = address.split('?');
    expect(formatPlace(parsePlace(path, query))).toBe(address);
  });

  it.each(['a'.repeat(63), 'a'.repeat(64), ''])(
    'of %s and characters beyond the first plane are cut between two',
    (text) => {
      const address = formatPlace(parsePlace(`/owners/${text}${encodeURIComponent('😀'.repeat(70))}`, ''));
      expect(decodeURIComponent(address).length).toBeLessThanOrEqual('/owners/'.length + 128);
      expect(parsePlace('/owners/%ED%A0%BD', '')).toBeDefined();
    },
  );
});
