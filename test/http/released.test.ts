import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ObservationReader } from '../../actors/pages/olderRows.ts';
import { type ContentEncoding, prepareResponse } from '../../http/server/answers/preparedResponse.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { eventually } from '../support/processes/lifetime.ts';

describe('a server that closes', () => {
  it('aborts reads that wait, and holds nothing of those that have ended', async () => {
    const signals: AbortSignal[] = [];
    const observations: ObservationReader = {
      page: async (_installationId, _after, _limit, signal) => {
        signals.push(signal);
        return signals.length === 1 ? { items: [], more: false } : new Promise(() => undefined);
      },
    };
    const readTimeoutMs = 123_457;
    const [begun, ended] = [vi.spyOn(globalThis, 'setTimeout'), vi.spyOn(globalThis, 'clearTimeout')];
    onTestFinished(() => void vi.restoreAllMocks());
    const server = await startPublicServer({ observations, readTimeoutMs });
    const ask = () => server.get('/v1/public/installations/wheel-1/observations');
    await ask();
    const deadline = begun.mock.calls.findIndex(([, ms]) => ms === readTimeoutMs);
    expect(ended).toHaveBeenCalledWith(begun.mock.results[deadline]?.value);
    ask().catch(() => undefined);
    await eventually(() => signals.length === 2, 'the second read');
    server.close();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
  });

  it('leaves no timer behind, and has none at rest', async () => {
    const countTimers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = countTimers();
    const server = await startPublicServer({ rateLimits: true });
    expect(countTimers()).toBe(before);
    server.close();
    expect(countTimers()).toBe(before);
  });
});

it.each([
  ['br', brotliDecompressSync],
  ['gzip', gunzipSync],
] as const)(
  'a body is compressed once as %s, however often it is sent',
  (encoding: ContentEncoding, unpack) => {
    const json = Array.from({ length: 500 }, (_, index) => `item ${index}`);
    for (const isSingle of [false, true]) {
      const headers = { tag: null, cacheControl: null, own: [], isSingle };
      const { encoded } = prepareResponse(json, headers);
      const sent = () => [encoded(encoding).headers, encoded(encoding).notModified, encoded(encoding).body()];
      for (const [index, part] of sent().entries()) expect(sent()[index]).toBe(part);
      expect(JSON.parse(unpack(encoded(encoding).body()).toString())).toEqual(json);
    }
  },
);
