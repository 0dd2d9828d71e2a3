import { getAddress } from 'viem/utils';
import { expect, it } from 'vitest';
import type { z } from 'zod';
import type { ChainFeedEvent } from '../../actors/events/eventSchemas.ts';
import { toChainItem } from '../../actors/feed/feedItem.ts';
import { encodeFeedPosition } from '../../actors/feed/feedPosition.ts';
import type { eventsResponse } from '../../http/responses/feed/events.ts';
import { createEconomyViews } from '../support/chain/economyState.ts';
import { buildNamedEvents, feedChainId, namedOwners } from '../support/chain/feedEvents.ts';
import { buildFeedEvent, replaceFeed, rewardsClaimed } from '../support/chain/feedOfEvents.ts';
import { listen } from '../support/http/eventSource.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { startRecordsServer } from '../support/http/recordsServer.ts';
import { eventually } from '../support/processes/lifetime.ts';

const paths = ['/v1/events', '/v2/public/events'];

it('events are chosen by conditions, of which each must be met, page by page', async () => {
  const events = buildNamedEvents(24);
  const server = await startPublicServer({ chain: replaceFeed(createEconomyViews().views, events) });
  const [owner, other] = namedOwners;
  const { transactionHash } = (events[4] as ChainFeedEvent).source;
  const read = async (query: string) => {
    const found: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const path = `/v1/events?limit=2&${query}${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const body = (await (await server.get(path)).json()) as z.infer<typeof eventsResponse>;
      if (body.status !== 'available') throw new Error(body.reason);
      found.push(...body.events.map(({ id }) => id));
      cursor = body.nextCursor;
    }
    return found;
  };
  const idsOf = (matches: (event: ChainFeedEvent, at: number) => boolean) =>
    events
      .filter(matches)
      .map((event) => toChainItem(feedChainId, event).id)
      .reverse();
  for (const [query, matches] of [
    [`owner=${owner}`, (_event, at) => at % 3 === 0 && at % 4 !== 3],
    [
      `owner=${owner},${getAddress(other)}&type=player.miner_minted`,
      (_event, at) => at % 3 < 2 && at % 4 === 0,
    ],
    ['tokenId=3', (_event, at) => at % 5 === 2 && at % 4 !== 3],
    [
      `tokenId=3,4&owner=${other}`,
      (_event, at) => (at % 5 === 2 || at % 5 === 3) && at % 3 === 1 && at % 4 !== 3,
    ],
    [`transaction=${transactionHash}`, ({ source }) => source.transactionHash === transactionHash],
    ['ethereumBlock=2', ({ source }) => source.blockNumber === 2n],
    ['type=system.mining_checkpointed&category=players', () => false],
    [
      'from=1970-01-01T00:00:01.001Z&to=1970-01-01T00:00:01.003Z',
      ({ recordedAtMs: ms }) => ms >= 1_001 && ms < 1_003,
    ],
    [
      'from=1970-01-01T00:00:01.001000001Z&to=1970-01-01T00:00:01.0034Z',
      ({ recordedAtMs: ms }) => ms > 1_001 && ms <= 1_003,
    ],
    ['to=1970-01-01', () => false],
    ['from=1970-01-02', () => false],
  ] as readonly (readonly [string, Parameters<typeof idsOf>[0]])[])
    expect([query, await read(query)]).toEqual([query, idsOf(matches)]);
});

it.each(paths)('%s is prepared again when the wheel has reached something', async (path) => {
  const { server, records } = await startRecordsServer(1);
  const count = async () => ((await (await server.get(path)).json()) as { events: unknown[] }).events.length;
  const before = await count();
  records.add();
  expect(await count()).toBe(before + 1);
});

it('an event that no body may have is counted, not sent', async () => {
  // An amount in a token with a symbol that no body may have.
  const { views } = createEconomyViews({ symbol: 'not a symbol' });
  const server = await startPublicServer({ chain: replaceFeed(views, [buildFeedEvent(rewardsClaimed)]) });
  const { response, messages } = await listen(server.base, undefined, {
    'Last-Event-ID': encodeFeedPosition({ measurement: null, chain: null }),
  });
  // Proxies do not gather it.
  expect(response.headers.get('x-accel-buffering')).toBe('no');
  const failures = /miner_http_failures_total\{route="\/v1\/events\/stream"\} 1\b/;
  await eventually(async () => failures.test(await server.registry.metrics()), 'the event is counted');
  expect(messages).toEqual([]);
});
