import { describe, expect, it } from 'vitest';
import { coreAbi } from '../../actors/chain/spans/contractAbis.ts';
import { addAchievements, type MeasurementProgress } from '../../actors/wheel/measurementEvents.ts';
import { startChainWithHistory } from '../support/chain/chainWithHistory.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { shareInFile } from '../support/processes/lifetime.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';

interface Feed {
  readonly status: string;
  readonly reason?: string;
  readonly activeEventTypes: readonly string[];
  readonly events: readonly { readonly source: Record<string, unknown> }[];
  readonly nextCursor: string | null;
}

const paths = ['/v1/events', '/v2/public/events'];

/** Readings that reach something of every kind. */
function foldProgress(nowMs: number): MeasurementProgress {
  let progress: MeasurementProgress | null = null;
  for (const [index, distanceMm] of [5_000_000, 6_000_000, 7_000_000].entries()) {
    const observedAtMs = nowMs + index * 86_400_000;
    const reading = acceptedReading({
      position: index + 1,
      observedAtMs,
      speedMmPerSecond: 600 * (index + 1),
      distanceMm,
    });
    progress = addAchievements(progress, reading, {
      dayMm: distanceMm,
      previousDayMm: index === 0 ? 0 : 4_000_000 + index * 1_000_000,
      stored: { timestampNanos: 0n },
    });
  }
  return progress as MeasurementProgress;
}

/** A chain with events of every kind; each test continues where the previous one stopped. */
const sharedWorld = shareInFile(() => startChainWithHistory({ seed: 3, steps: 40 }));

async function startServer() {
  const { economy, chain, random } = await sharedWorld();
  // A new span, so that the chain is as fresh as the clock of the views has become.
  await economy.mine();
  await chain.fold();
  const progress = { current: foldProgress(Date.UTC(2026, 0, 31, 12)) as MeasurementProgress | null };
  const server = await startPublicServer({ chain: chain.views, progress: () => progress.current });
  const feed = async (query = '') => {
    const response = await server.get(`/v1/events${query}`);
    expect([response.status, response.headers.get('etag')]).toEqual([200, null]);
    return (await response.json()) as Feed;
  };
  return { economy, chain, random, server, progress, feed };
}

describe('the event feed', () => {
  it('shows an event of the chain when it is 12 confirmations deep, and not before', async () => {
    const { economy, chain, random, feed } = await startServer();
    for (let step = 0; step < 30; step++) await random.step();
    await economy.mine();
    const logged = await economy.client.getContractEvents({
      address: economy.deployed.contracts.core as `0x${string}`,
      abi: coreAbi,
      eventName: 'BatchSettled',
      fromBlock: 0n,
    });
    const block = logged.at(-1)?.blockNumber as bigint;
    const id = logged.at(-1)?.transactionHash;
    const isShown = async () =>
      (await feed('?category=protocol&limit=100')).events.some(({ source }) => source.transactionHash === id);
    await chain.fold();
    for (let tip = await economy.client.getBlockNumber({ cacheTime: 0 }); tip < block + 11n; tip++) {
      expect(await isShown()).toBe(false);
      await economy.mine();
      await chain.fold();
    }
    expect(await isShown()).toBe(true);
  });

  it('refuses unknown parameters, and cursors of another category', async () => {
    const { server, feed } = await startServer();
    const { nextCursor } = await feed('?category=players&limit=1');
    for (const path of paths) {
      for (const [query, status, error] of [
        ['?limit=0', 400, 'invalid_query'],
        ['?limit=101', 400, 'invalid_query'],
        ['?limit=', 400, 'invalid_query'],
        ['?limit=07', 400, 'invalid_query'],
        ['?category=', 400, 'invalid_query'],
        ['?category=none', 400, 'invalid_query'],
        ['?category=all&category=all', 400, 'invalid_query'],
        ['?page=1', 400, 'invalid_query'],
        ['?cursor=', 400, 'invalid_query'],
        ['?cursor=a.b', 400, 'invalid_query'],
        [`?cursor=${'a'.repeat(513)}`, 400, 'invalid_query'],
        ['?cursor=abc', 400, 'invalid_cursor'],
        [`?cursor=${nextCursor}`, 400, 'invalid_cursor'],
        [`?category=players&cursor=${nextCursor}`, 200, undefined],
        ['?category=measurement&limit=100', 200, undefined],
      ] as const) {
        const response = await server.get(`${path}${query}`);
        const body = (await response.json()) as { error?: string };
        expect([query, response.status, body.error]).toEqual([query, status, error]);
        expect(response.headers.get('cache-control')).toBe('no-store');
      }
    }
  });

  it('is unavailable for the reasons of the chain, and for a source without any message', async () => {
    const chainless = await startPublicServer();
    for (const path of paths)
      expect(await (await chainless.get(path)).json()).toEqual({
        schemaVersion: 1,
        installationId: 'wheel-1',
        status: 'unavailable',
        reason: 'indexer_disabled',
      });
    const { chain, progress, feed } = await startServer();
    progress.current = null;
    expect(await feed('?category=measurement')).toMatchObject({
      status: 'unavailable',
      reason: 'source_disabled',
    });
    const all = await feed();
    expect(all.activeEventTypes.some((type) => type.startsWith('measurement'))).toBe(false);
    expect(all.status).toBe('available');
    chain.settings.isCaughtUp = false;
    expect(await feed()).toMatchObject({ status: 'unavailable', reason: 'indexer_unavailable' });
    chain.settings.isCaughtUp = true;
    chain.clock.advance(121_000);
    expect(await feed()).toMatchObject({ status: 'unavailable', reason: 'indexer_unavailable' });
  });
});
