import { describe, it } from 'vitest';
import { nothingEvicted } from '../../actors/events/eventWindow.ts';
import type { OlderEvents } from '../../actors/feed/olderEvents.ts';
import { RecordsUnavailable } from '../../actors/older/recordsUnavailable.ts';
import { buildEconomyEvents, buildState, createStateViews } from '../support/chain/economyState.ts';
import { buildFeedEvent, replaceFeed } from '../support/chain/feedOfEvents.ts';
import { buildTransactionHash } from '../support/chain/hashes.ts';
import { expectError } from '../support/http/expectError.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { shareInFile } from '../support/processes/lifetime.ts';
import { noOlderEvents } from '../support/storage/noOlderEvents.ts';

const start = shareInFile(() =>
  startPublicServer({ chain: createStateViews(buildState(buildEconomyEvents())).views }),
);
const hash = buildTransactionHash(7);

describe('the routes of records', () => {
  it.each([
    ...['0', '01', '-1', '1e3', '9999999999', 'x'].map((id) => `rounds/${id}`),
    ...[hash.slice(2), hash.toUpperCase(), `${hash}0`].map((id) => `transactions/${id}`),
    ...['7', 'x:1', 'chain:', 'chain:a b'].map((id) => `events/${encodeURIComponent(id)}`),
    ...['0', '10000', '01'].map((id) => `miners/${id}`),
    ...['2026-02-30', '2026-1-31', 'yesterday', '2026-01-31T00:00Z'].map((id) => `days/${id}`),
  ])('/v1/%s has a path of the wrong form', async (path) => {
    await expectError(await (await start()).get(`/v1/${path}`), 400, 'invalid_path');
  });

  it.each(['events/chain:1:x', 'miners/9999'])('/v1/%s does not exist', async (path) => {
    await expectError(await (await start()).get(`/v1/${path}`), 404, 'not_found');
  });

  it.each(['rounds', 'batches', 'checkpoints', 'miners', 'owners'])(
    '/v1/%s refuses an invalid page, and a cursor of another list',
    async (list) => {
      const { get } = await start();
      const queries = ['limit=0', 'limit=101', 'limit=1&limit=1', 'cursor=', 'other=1'];
      if (!['miners', 'owners'].includes(list)) queries.push('from=today', 'to=2026-02-30', 'from=1');
      for (const query of queries)
        await expectError(await get(`/v1/${list}?${query}`), 400, 'invalid_query', query);
      const others = list === 'owners' ? 'miners' : 'owners';
      const { nextCursor } = (await (await get(`/v1/${others}?limit=1`)).json()) as { nextCursor: string };
      for (const cursor of ['abc', nextCursor])
        await expectError(await get(`/v1/${list}?cursor=${cursor}`), 400, 'invalid_cursor', cursor);
    },
  );

  it.each(['', 'q=', `q=${'x'.repeat(201)}`, 'q=1&q=2', 'q=1&limit=1'])(
    '/v1/search refuses the query %j',
    async (query) => {
      await expectError(await (await start()).get(`/v1/search?${query}`), 400, 'invalid_query');
    },
  );

  it('ask for patience while old events cannot be read, and are never empty instead', async () => {
    const state = buildState(buildEconomyEvents());
    const unavailable = async () => {
      throw new RecordsUnavailable('ClickHouse does not answer');
    };
    const olderEvents: OlderEvents = { ...noOlderEvents, before: unavailable, find: unavailable };
    const details = {
      type: 'system.settlement_completed',
      previousSettledThroughRound: 90n,
      settledThroughRound: 93n,
      activeRoundCount: 3n,
      workAdded: 3n,
      completedBlockCount: 0n,
      firstCompletedBlock: null,
      lastCompletedBlock: null,
      cumulativeWork: 3n,
      blockHeight: 5n,
      cumulativeBlockUnits: 5_000_000_000n,
    } as const;
    const { views } = createStateViews(state);
    const through = { position: 1, ordinal: 0 };
    const evicted = { ...nothingEvicted, through, throughMs: state.block.timestampMs };
    const chain = replaceFeed(views, [buildFeedEvent(state, details, 1)], evicted);
    const { get } = await startPublicServer({ chain, olderEvents });
    for (const path of ['rounds/1', 'batches', `transactions/${hash}`, 'events/chain:1:x'])
      await expectError(await get(`/v1/${path}`), 503, 'database_unavailable', path);
  });
});
