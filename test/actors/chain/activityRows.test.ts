import { Map as ImmutableMap, List } from 'immutable';
import { expect, it } from 'vitest';
import {
  type FinalActivity,
  findFirstInMemory,
  makeActivityFinal,
  rowsOfMessage,
} from '../../../actors/chain/rows/activityRows.ts';
import { type ChainState, emptyChainState } from '../../../actors/chain/state/chainState.ts';
import type { Address } from '../../../actors/schemas/hex.ts';
import { stateOwner } from '../../support/chain/economyState.ts';
import { buildBlockHash } from '../../support/chain/hashes.ts';
import { buildClaim } from '../../support/chain/ownerClaims.ts';
import { writtenContracts } from '../../support/chain/writtenSpans.ts';

const eventsPerBlock = 7;
const retained = 100;

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
      { tokenIds: [], paidBaseUnits: 0n, activityCount: own.length, activity: List(own) },
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
    const { final, ...made } = makeActivityFinal(state, lastBlock - 1n, { retained, afterBlock: lastBlock });
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
  ({ state } = makeActivityFinal(state, 80n, { retained, afterBlock: 79n }));
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
    ({ state } = makeActivityFinal(state, 80n, { retained, afterBlock: blockNumber - 1n }));
    for (const [owner, { activityCount, activity }] of state.owners) {
      const oldest = state.activityProgress.pending.find((one) => one.owner === owner)?.eventNumber;
      expect([owner, activityCount - activity.size]).toEqual([
        owner,
        Math.min(oldest ?? activityCount, activityCount - retained),
      ]);
    }
  }
});

it('each owner keeps the newest events, and all that are not rows yet', () => {
  const addresses = [stateOwner, writtenContracts.mining];
  let state = buildState(700, addresses);
  // An owner that acted only before the others keeps its events.
  const early = buildClaim({ blockNumber: 0n });
  const known = { tokenIds: [], paidBaseUnits: 0n, activityCount: 3, activity: List([early, early, early]) };
  state = { ...state, owners: state.owners.set(writtenContracts.core, known) };
  for (const [finalBlock, first] of [
    // 350 events each: until the 250th is a row, those that are not begin earlier than the newest 100.
    [40n, 143],
    [71n, 250],
    [99n, 250],
  ] as const) {
    ({ state } = makeActivityFinal(state, finalBlock, { retained, afterBlock: 99n }));
    const firsts = [...addresses, writtenContracts.core].map((owner) => {
      const { activity, ...one } = state.owners.get(owner) as typeof known;
      return [findFirstInMemory({ activity, ...one }), one.activityCount];
    });
    const isOdd = Number(finalBlock + 1n) % 2;
    expect(firsts).toEqual([
      [first + (first < 250 ? isOdd : 0), 350],
      [first, 350],
      [0, 3],
    ]);
  }
  expect(state.activityProgress.pending.size).toBe(0);
  const same = makeActivityFinal(state, 99n, { retained, afterBlock: 99n });
  expect(same.final).toEqual([]);
  expect(same.state.owners).toBe(state.owners);
});
