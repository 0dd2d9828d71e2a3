import { expect, it } from 'vitest';
import { createChainActors } from '../../../actors/chain/chainActors.ts';
import { retainedStatesMax } from '../../../actors/chain/fold/spanFoldState.ts';
import { type Address, toAddress } from '../../../actors/schemas/hex.ts';
import { configuredEconomy, minted, transferred } from '../../support/chain/writtenEconomy.ts';
import {
  buildSpan,
  buildSpanMessage,
  type WrittenEvent,
  writtenSettings,
} from '../../support/chain/writtenSpans.ts';

const heir = toAddress(`0x${'f'.repeat(40)}`);
const pastOwners = Array.from({ length: 40 }, (_, index) =>
  toAddress(`0xe${String(index).padStart(39, '0')}`),
);

it('memory and snapshots hold only the number of events for owners without tokens', () => {
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
  for (const owner of pastOwners) {
    const known = owners?.get(owner);
    expect(known).toMatchObject({ tokenIds: [], activityCount: 2 });
    expect(known?.activity.size).toBe(0);
  }
  const records = [...actors.capture().all()].filter(({ key }) =>
    pastOwners.some((owner) => key.startsWith(owner)),
  );
  const sorted = records.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  expect(sorted).toEqual(pastOwners.map((key) => ({ kind: 'activityCount', key, value: '2' })));
});
