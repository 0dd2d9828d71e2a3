import { expect, it } from 'vitest';
import { encodeFeedPosition } from '../../actors/views/feed/feedViews.ts';
import { buildEconomyEvents, buildState, createStateViews } from '../support/chain/economyState.ts';
import { buildFeedEvent, replaceFeed, rewardsClaimed } from '../support/chain/feedOfEvents.ts';
import { listen } from '../support/http/eventSource.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { createSpeedRecords } from '../support/readings/speedRecords.ts';

const paths = ['/v1/events', '/v2/public/events'];

it('events are refused for unknown parameters, and for cursors of another category', async () => {
  const state = buildState(buildEconomyEvents());
  const events = [0, 1].map((index) => buildFeedEvent(state, rewardsClaimed, index));
  const server = await startPublicServer({ chain: replaceFeed(createStateViews(state).views, events) });
  const first = await server.get('/v1/events?category=players&limit=1');
  const { nextCursor } = (await first.json()) as { nextCursor: string };
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

it.each(paths)('%s is prepared again when the wheel has reached something', async (path) => {
  const records = createSpeedRecords();
  const state = buildState(buildEconomyEvents());
  const server = await startPublicServer({
    chain: createStateViews(state).views,
    progress: records.progress,
  });
  const count = async () => ((await (await server.get(path)).json()) as { events: unknown[] }).events.length;
  records.add();
  const before = await count();
  records.add();
  expect(await count()).toBe(before + 1);
});

it('an event that no body may have is not sent to listeners, and is counted', async () => {
  // An amount in a token with a symbol that no body may have.
  const state = buildState(buildEconomyEvents({ symbol: 'not a symbol' }));
  const { views } = createStateViews(state);
  const server = await startPublicServer({
    chain: replaceFeed(views, [buildFeedEvent(state, rewardsClaimed)]),
  });
  const nothing = { run: 'other', position: 0, ordinal: 0 };
  const { response, messages } = await listen(server.base, undefined, {
    'Last-Event-ID': encodeFeedPosition({ measurement: nothing, chain: nothing }),
  });
  // Proxies do not gather it.
  expect(response.headers.get('x-accel-buffering')).toBe('no');
  const failures = /miner_http_failures_total\{route="\/v1\/events\/stream"\} 1\b/;
  await eventually(async () => failures.test(await server.registry.metrics()), 'the event is counted');
  expect(messages).toEqual([]);
});
