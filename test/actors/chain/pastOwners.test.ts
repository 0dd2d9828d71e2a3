import { List } from 'immutable';
import { expect, it } from 'vitest';
import { createChainActors } from '../../../actors/chain/chainActors.ts';
import { ForkBelowStates } from '../../../actors/chain/fold/followLink.ts';
import { retainedStatesMax } from '../../../actors/chain/fold/spanFoldState.ts';
import type { ChainState } from '../../../actors/chain/state/chainState.ts';
import { type Address, toAddress } from '../../../actors/schemas/hex.ts';
import { stateDeployment } from '../../support/chain/economyState.ts';
import { createTestChainViews } from '../../support/chain/testChainViews.ts';
import { configuredEconomy, minted, transferred } from '../../support/chain/writtenEconomy.ts';
import {
  buildSpan,
  buildSpanMessage,
  type WrittenEvent,
  writtenSettings,
} from '../../support/chain/writtenSpans.ts';
import { noOlderActivity } from '../../support/storage/noOlderRows.ts';

const heir = toAddress(`0x${'f'.repeat(40)}`);
const pastOwners = Array.from({ length: 40 }, (_, index) =>
  toAddress(`0xe${String(index).padStart(39, '0')}`),
);

it('memory keeps only the number of events of an owner without tokens, who reads them from rows', async () => {
  const actors = createChainActors({ ...writtenSettings, eventsRetained: 0 });
  let number = 0;
  const append = (events: readonly WrittenEvent[]) =>
    actors.receive(buildSpanMessage(buildSpan({ number: ++number, events }), number));
  append(configuredEconomy);
  const pass = (owner: Address, tokenId: number) => [
    minted(owner, tokenId),
    transferred(owner, heir, tokenId),
  ];
  for (const [index, owner] of pastOwners.entries()) append(pass(owner, index + 1));
  // Until the events are final, and one more block, which turns them into rows.
  while (number < 1 + pastOwners.length + retainedStatesMax + 12) append([]);

  const owners = actors.newest()?.owners;
  expect(owners?.size).toBe(pastOwners.length + 1);
  for (const owner of pastOwners)
    expect(owners?.get(owner)).toEqual({
      tokenIds: [],
      paidBaseUnits: 0n,
      activityCount: 2,
      activity: List(),
    });
  const records = [...actors.capture()].filter(({ key }) =>
    pastOwners.some((owner) => key.startsWith(owner)),
  );
  const sorted = records.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  expect(sorted).toEqual(pastOwners.map((key) => ({ kind: 'owner', key, value: '[0,2,[]]' })));

  const [owner] = pastOwners as [Address];
  const views = createTestChainViews({
    onChain: { deployment: stateDeployment, actors },
    staleAfterMs: Number.POSITIVE_INFINITY,
    olderActivity: { ...noOlderActivity, read: async (range) => [range as never, 'the newest' as never] },
  });
  const { position } = actors.newest() as ChainState;
  const range = { owner, from: 0, end: 2, throughPosition: position };
  const page = { owner, limit: 2, cursor: null };
  expect(await views.ownerActivity(page, new AbortController().signal)).toMatchObject({
    total: 2n,
    activity: ['the newest', range],
    nextCursor: null,
  });
  // The rows of replaced blocks must be removed, even if they are only activity.
  const repair = buildSpanMessage(buildSpan({ number: 1, fork: 1 }), number + 1);
  expect(() => actors.receive(repair)).toThrow(ForkBelowStates);
});
