import { List } from 'immutable';
import { describe, expect, it } from 'vitest';
import { nothingEvicted } from '../../actors/events/eventWindow.ts';
import { type OlderEvents, StoreUnavailable } from '../../actors/pages/olderRows.ts';
import { toAddress } from '../../actors/schemas/hex.ts';
import { requireValue } from '../../machines/requireValue.ts';
import {
  buildEconomyEvents,
  buildState,
  createEconomyViews,
  createStateViews,
  stateBlock,
  stateOwner,
} from '../support/chain/economyState.ts';
import { settled } from '../support/chain/feedEvents.ts';
import { buildFeedEvent, replaceFeed } from '../support/chain/feedOfEvents.ts';
import { buildTransactionHash } from '../support/chain/hashes.ts';
import { expectError } from '../support/http/expectError.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { shareInFile } from '../support/processes/lifetime.ts';
import { noOlderEvents } from '../support/storage/noOlderRows.ts';

const start = shareInFile(() => startPublicServer({ chain: createEconomyViews().views }));
const hash = buildTransactionHash(7);

describe('the routes of records', () => {
  it.each(['events/chain:1:x', 'miners/9999'])('/v1/%s does not exist', async (path) => {
    await expectError(await (await start()).get(`/v1/${path}`), 404, 'not_found');
  });

  it.each([
    [`chain:1:0x${'a'.repeat(40)}:${hash}:0:player.miner_minted`, `/transactions/${hash}`],
    ['measurement:wheel-1:v1:measurement.speed_record:834', '/feed?category=measurement'],
  ])('are found by the ID of an event: %s', async (id, page) => {
    const response = await (await start()).get(`/v1/search?q=${encodeURIComponent(id)}`);
    const result = { kind: 'event', id, route: `/v1/events/${encodeURIComponent(id)}`, page };
    expect(await response.json()).toMatchObject({ results: [result], reason: null });
  });

  it('ask for patience while old events cannot be read, and are never empty instead', async () => {
    const unavailable = async () => {
      throw new StoreUnavailable('ClickHouse does not answer');
    };
    const olderEvents: OlderEvents = { ...noOlderEvents, before: unavailable };
    const details = settled({ previousSettledThroughRound: 90n, settledThroughRound: 93n });
    const { views } = createEconomyViews();
    const through = { position: 1, ordinal: 0 };
    const evicted = { ...nothingEvicted, through, throughMs: stateBlock.timestampMs };
    const chain = replaceFeed(views, [buildFeedEvent(details, 1)], evicted);
    const { get } = await startPublicServer({ chain, olderEvents });
    for (const path of [
      'rounds/1',
      'batches',
      `transactions/${hash}`,
      `events/chain:1:0x${'0'.repeat(40)}:${hash}:0:x`,
    ])
      await expectError(await get(`/v1/${path}`), 503, 'database_unavailable', path);
  });

  it('show the transfers of a transaction once, and none of another', async () => {
    const other = toAddress(`0x${'f'.repeat(40)}`);
    const transfers = [
      { from: stateOwner, to: other },
      { from: other, to: stateOwner },
    ].map((args) => ({ contract: 'collection' as const, name: 'Transfer', args: { ...args, tokenId: 1n } }));
    const { get } = await startPublicServer({ chain: createEconomyViews({}, ...transfers).views });
    const read = async (digit: string) => (await get(`/v1/transactions/0x${digit.repeat(64)}`)).json();
    expect(await read('a')).toMatchObject({
      events: [],
      transfers: transfers.map(({ args: { from, to } }) => ({ kind: 'transfer', tokenIds: ['1'], from, to })),
    });
    expect(await read('b')).toMatchObject({ events: [], transfers: [] });
  });

  it('show a miner from memory, however many actions of its owner are rows', async () => {
    const state = buildState(buildEconomyEvents());
    const known = requireValue(state.owners.get(stateOwner), 'the owner');
    const [action] = known.activity;
    const newest = List(Array.from({ length: 25 }, () => requireValue(action, 'an action')));
    const owners = state.owners.set(stateOwner, { ...known, activityCount: 40, activity: newest });
    const { get } = await startPublicServer({ chain: createStateViews({ ...state, owners }).views });
    const response = await get(`/v1/miners/${known.tokenIds[0]}`);
    expect(await response.json()).toMatchObject({ status: 'available', owner: stateOwner });
  });
});
