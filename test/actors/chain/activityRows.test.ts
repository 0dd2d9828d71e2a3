import { Map as ImmutableMap, List } from 'immutable';
import { expect, it } from 'vitest';
import {
  type FinalActivity,
  findFirstInMemory,
  makeActivityFinal,
  ownerEventsRetained as retained,
  rowsOfMessage,
} from '../../../actors/chain/rows/activityRows.ts';
import { type ChainState, emptyChainState } from '../../../actors/chain/state/chainState.ts';
import { findOwner, type OwnerState } from '../../../actors/chain/state/ownerState.ts';
import type { Address } from '../../../actors/schemas/hex.ts';
import { requireValue } from '../../../machines/requireValue.ts';
import { stateOwner } from '../../support/chain/economyState.ts';
import { buildBlockHash } from '../../support/chain/hashes.ts';
import { buildClaim } from '../../support/chain/ownerClaims.ts';
import { writtenContracts } from '../../support/chain/writtenSpans.ts';

const eventsPerBlock = 7;

/** A state whose owners take turns in acting, seven times a block; no event is a row yet. */
function buildState(eventCount: number, addresses: readonly Address[]): ChainState {
  const findBlock = (event: number) => BigInt(Math.floor(event / eventsPerBlock));
  const events = Array.from({ length: eventCount }, (_, event) => ({
    owner: addresses[event % addresses.length] as Address,
    eventNumber: Math.floor(event / addresses.length),
    blockNumber: findBlock(event),
  }));
  const owners = addresses.map((address) => {
    const own = events.filter(({ owner }) => owner === address).map((one) => buildClaim(one));
    return [
      address,
      { tokenIds: [1], paidBaseUnits: 0n, activityCount: own.length, activity: List(own) },
    ] as const;
  });
  const block = { number: findBlock(eventCount - 1), hash: buildBlockHash(1), timestampMs: 0 };
  return {
    ...emptyChainState(block),
    owners: ImmutableMap(owners),
    activityProgress: { rowsThroughBlock: null, pending: List(events) },
  };
}

it('one message turns at most about `rowsOfMessage` events into rows, and only whole blocks', () => {
  let state = buildState(4 * rowsOfMessage + 3, [stateOwner]);
  const { number: lastBlock } = state.block;
  const rows: FinalActivity[] = [];
  // The newest block is not final yet.
  for (let message = 0; message < 6; message++) {
    const { final, ...made } = makeActivityFinal(state, lastBlock - 1n, lastBlock);
    expect(final.length).toBeLessThan(rowsOfMessage + eventsPerBlock);
    state = made.state;
    rows.push(...final);
    const { rowsThroughBlock, pending } = state.activityProgress;
    expect(rowsThroughBlock).toBe(rows.at(-1)?.blockNumber);
    expect(pending.first()?.blockNumber).toBe((rowsThroughBlock as bigint) + 1n);
  }
  const stored = Number(lastBlock) * eventsPerBlock;
  expect(rows.map(({ eventNumber }) => eventNumber)).toEqual(
    Array.from({ length: stored }, (_, index) => index),
  );
});

it('what an owner keeps follows from the state alone: the newest events, and all that are not rows yet', () => {
  const [first, second] = [stateOwner, writtenContracts.mining];
  let state = buildState(700, [first, second]);
  ({ state } = makeActivityFinal(state, 80n, 79n));
  // The other one acts on, while no block becomes final.
  for (let blockNumber = 100n; blockNumber < 130n; blockNumber++) {
    const known = state.owners.get(second);
    if (known === undefined) throw new Error('the owner is unknown');
    const { activityCount: eventNumber, activity } = known;
    const event = buildClaim({ blockNumber });
    const acted = { ...known, activityCount: eventNumber + 1, activity: activity.push(event) };
    const { rowsThroughBlock, pending } = state.activityProgress;
    state = {
      ...state,
      block: { ...state.block, number: blockNumber },
      owners: state.owners.set(second, acted),
      activityProgress: {
        rowsThroughBlock,
        pending: pending.push({ owner: second, eventNumber, blockNumber }),
      },
    };
    ({ state } = makeActivityFinal(state, 80n, blockNumber - 1n));
    for (const [owner, { activityCount, activity }] of state.owners) {
      const oldest = state.activityProgress.pending.find((one) => one.owner === owner)?.eventNumber;
      expect([owner, activityCount - activity.size]).toEqual([
        owner,
        Math.min(oldest ?? activityCount, activityCount - retained),
      ]);
    }
  }
});

it('each owner keeps all events that are not rows yet, and of rows the newest if it has a position', () => {
  const [holder, past] = [stateOwner, writtenContracts.mining];
  let state = buildState(700, [holder, past]);
  const { owners } = state;
  const [known, other] = [owners.get(holder), owners.get(past)].map((one) =>
    requireValue(one, 'an owner'),
  ) as [OwnerState, OwnerState];
  // An owner that acted only before the others keeps its events.
  const early = { ...known, activityCount: 3, activity: known.activity.take(3) };
  state = {
    ...state,
    owners: owners.set(writtenContracts.core, early).set(past, { ...other, tokenIds: [], paidBaseUnits: 8n }),
  };
  const readFirst = (owner: Address) => findFirstInMemory(findOwner(state, owner));
  for (const [finalBlock, firstOfHolder, firstOfPast] of [
    // 350 events each. While more than 25 are not rows, those alone stay.
    [40n, 144, 143],
    [95n, 325, 336],
    [99n, 325, 350],
  ] as const) {
    ({ state } = makeActivityFinal(state, finalBlock, 99n));
    expect([readFirst(holder), readFirst(past)]).toEqual([firstOfHolder, firstOfPast]);
    expect(findOwner(state, writtenContracts.core)).toBe(early);
  }
  expect(state.owners.has(past)).toBe(false);
  expect(findOwner(state, past)).toEqual({
    tokenIds: [],
    paidBaseUnits: 8n,
    activityCount: 350,
    activity: List(),
  });
  expect(state.activityProgress.pending.size).toBe(0);
  const same = makeActivityFinal(state, 99n, 99n);
  expect(same.final).toEqual([]);
  expect(same.state.owners).toBe(state.owners);
});
