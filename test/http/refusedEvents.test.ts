import { expect, it, onTestFinished } from 'vitest';
import { encodeFeedPosition } from '../../actors/views/feed/feedViews.ts';
import { buildEconomyEvents, buildState, createStateViews } from '../support/chain/economyState.ts';
import { buildFeedEvent, replaceFeed, rewardsClaimed } from '../support/chain/feedOfEvents.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { eventually } from '../support/processes/childProcess.ts';

/** A server whose feed has an amount in a token with this symbol, which is no symbol that a body may have. */
async function startWithSymbol(symbol: string) {
  const state = buildState(buildEconomyEvents({ symbol }));
  const { views } = createStateViews(state);
  return startPublicServer({ chain: replaceFeed(views, [buildFeedEvent(state, rewardsClaimed)]) });
}

it.each(['/v1/events', '/v2/public/events'])(
  '%s says that it is unavailable instead of failing',
  async (path) => {
    const server = await startWithSymbol('not a symbol');
    const response = await server.get(path);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ status: 'unavailable', reason: 'indexer_unavailable' });
  },
);

it('are not sent to those who listen, and are counted', async () => {
  const server = await startWithSymbol('not a symbol');
  const nothing = { run: 'other', position: 0, ordinal: 0 };
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const response = await fetch(`${server.base}/v1/events/stream`, {
    headers: { 'Last-Event-ID': encodeFeedPosition({ measurement: nothing, chain: nothing }) },
    signal: ending.signal,
  });
  let received = '';
  void (async () => {
    for await (const piece of response.body ?? []) received += Buffer.from(piece).toString();
  })().catch(() => undefined);
  const failures = /miner_http_failures_total\{route="\/v1\/events\/stream"\} 1\b/;
  await eventually(async () => failures.test(await server.registry.metrics()), 'the event is counted');
  expect(received).not.toContain('data:');
});
