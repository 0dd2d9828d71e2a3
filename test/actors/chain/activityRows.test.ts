import { Map as ImmutableMap, List } from 'immutable';
import { expect, it } from 'vitest';
import {
  type FinalActivity,
  makeActivityFinal,
  rowsOfMessage,
} from '../../../actors/chain/rows/activityRows.ts';
import { emptyChainState } from '../../../actors/chain/state/chainState.ts';
import { stateOwner } from '../../support/chain/economyState.ts';
import { buildBlockHash } from '../../support/chain/hashes.ts';
import { buildClaim } from '../../support/chain/ownerEvents.ts';

const eventsPerBlock = 7;
const eventCount = 4 * rowsOfMessage + 3;
const retained = 100;
const findBlock = (eventNumber: number) => BigInt(Math.floor(eventNumber / eventsPerBlock));
const lastBlock = findBlock(eventCount - 1);

const buildOwnerEvent = (eventNumber: number) =>
  buildClaim({ blockNumber: findBlock(eventNumber), logIndex: eventNumber % eventsPerBlock });

/** A state with far more events in memory than are retained; the first `rowCount` are rows. */
function buildState(rowCount: number) {
  const events = Array.from({ length: eventCount }, (_, eventNumber) => buildOwnerEvent(eventNumber));
  const block = { number: lastBlock, hash: buildBlockHash(1), timestampMs: 0 };
  const known = { tokenIds: [], activityCount: eventCount, activity: List(events) };
  const logged = List(
    events.map(({ source: { blockNumber } }, eventNumber) => ({
      blockNumber,
      owner: stateOwner,
      eventNumber,
    })),
  );
  return {
    ...emptyChainState(block, 'run'),
    owners: ImmutableMap([[stateOwner, known]]),
    activityProgress: {
      rowsThroughBlock: rowCount === 0 ? null : findBlock(rowCount - 1),
      logged,
      rowCount,
    },
  };
}

it('one message turns at most about `rowsOfMessage` events into rows, and only whole blocks', () => {
  let state: ReturnType<typeof makeActivityFinal>['state'] = buildState(0);
  const rows: FinalActivity[] = [];
  // The newest block is not final yet.
  for (let message = 0; message < 6; message++) {
    const { final, ...made } = makeActivityFinal(state, lastBlock - 1n, retained);
    expect(final.length).toBeLessThan(rowsOfMessage + eventsPerBlock);
    state = made.state;
    rows.push(...final);
    const { rowsThroughBlock, logged, rowCount } = state.activityProgress;
    expect(rowsThroughBlock).toBe(rows.at(-1)?.blockNumber);
    expect(logged.get(rowCount)?.blockNumber).toBe((rowsThroughBlock as bigint) + 1n);
    expect(rowCount).toBe(retained);
  }
  const stored = Number(lastBlock) * eventsPerBlock;
  expect(rows.map(({ eventNumber }) => eventNumber)).toEqual(
    Array.from({ length: stored }, (_, index) => index),
  );
});

it('one message evicts at most `rowsOfMessage` more events than it turns into rows', () => {
  let state: ReturnType<typeof makeActivityFinal>['state'] = buildState(3 * rowsOfMessage + 1);
  const takeMessage = () => {
    const { final, ...made } = makeActivityFinal(state, lastBlock - 1n, retained);
    state = made.state;
    const { logged, rowCount } = state.activityProgress;
    const first = logged.first()?.eventNumber ?? eventCount;
    const known = state.owners.get(stateOwner);
    expect(known?.activity.first()?.source).toEqual(buildOwnerEvent(first).source);
    expect(known?.activity.size).toBe(logged.size);
    return { added: final.length, rowCount, first };
  };
  const added = Number(lastBlock) * eventsPerBlock - 3 * rowsOfMessage - 1;
  expect(takeMessage()).toEqual({ added, rowCount: 2 * rowsOfMessage + 1, first: added + rowsOfMessage });
  expect(takeMessage()).toMatchObject({ added: 0, rowCount: rowsOfMessage + 1 });
  expect(takeMessage()).toMatchObject({ added: 0, rowCount: retained });
  expect(takeMessage()).toMatchObject({ added: 0, rowCount: retained });
  expect(state.activityProgress.rowsThroughBlock).toBe(lastBlock - 1n);
});
