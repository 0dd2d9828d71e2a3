import { z } from 'zod';
import { ownerPageDefault } from '../../../actors/chain/rows/activityRows.ts';
import type { OwnerEvent } from '../../../actors/chain/state/ownerState.ts';
import type { ChainUnavailable } from '../../../actors/views/chain/shownStates.ts';
import type { MinersView, MinerView, OwnersView } from '../../../actors/views/chain/weightViews.ts';
import { type FoundEvents, newestEventsMax } from '../../../actors/views/feed/feedRecords.ts';
import { address, defineVariants, toVariant } from '../chain/chain.ts';
import { activity, toActivityBody } from '../chain/ownerActivity.ts';
import { earnings, miningMembers, position, toMiningMembers } from '../chain/portfolio.ts';
import { encodeView } from '../encodeView.ts';
import { feedEvent, toFeedEventBody } from '../feed/feedEvent.ts';
import { cursor, decimal, defineObject, pageMax, positiveDecimal } from '../scalars.ts';

const nextCursor = cursor
  .nullable()
  .describe('Requests the next page, below the last weight of this one; null on the last page');

export const minerResponse = defineVariants(
  1,
  {
    tokenId: positiveDecimal.describe('ID of the token'),
    ...miningMembers,
    owner: address.nullable().describe('Its owner; null once it has been merged into another token'),
    position: position.nullable().describe('Its weight and its rewards; null once it has been merged'),
    earnings: earnings
      .nullable()
      .describe('What it earned in the last seven days; null once it has been merged'),
    mergedInto: positiveDecimal
      .nullable()
      .describe('The token that it was merged into, which may have been merged later; null for a live one'),
    transfers: z
      .array(activity)
      .max(ownerPageDefault)
      .describe(
        `Its transfers among the newest ${ownerPageDefault} actions of its owner, newest first. Older ones are in the owner’s activity, and those between earlier owners in theirs`,
      ),
    events: z.array(feedEvent).max(newestEventsMax).describe('Its newest events, newest first'),
  },
  { id: 'Miner', description: 'One miner: its position and owner, or what it was merged into' },
);

export const minersResponse = defineVariants(
  1,
  {
    ...miningMembers,
    miners: z
      .array(position.safeExtend({ owner: address.describe('Its owner') }).meta({ id: 'OwnedPosition' }))
      .max(pageMax)
      .describe('Live miners, the heaviest first, and then by token ID'),
    nextCursor,
  },
  { id: 'Miners', description: 'A page of all live miners' },
);

export const ownersResponse = defineVariants(
  1,
  {
    ...miningMembers,
    owners: z
      .array(
        defineObject('OwnerWeight', {
          address: address.describe('Address of the owner'),
          positionCount: positiveDecimal.describe('Number of tokens of the owner'),
          activeWeight: decimal.describe('Mining power that earns now'),
          targetWeight: decimal.describe('Mining power after pending changes'),
        }),
      )
      .max(pageMax)
      .describe('Owners of live miners, the heaviest first, and then by address'),
    nextCursor,
  },
  { id: 'Owners', description: 'A page of all owners' },
);

type MinerRecord = MinerView & {
  readonly found: FoundEvents;
  /** Actions of its owner, newest first. */
  readonly activity: readonly OwnerEvent[];
};

export function toMinerBody(view: MinerRecord | ChainUnavailable): z.infer<typeof minerResponse> {
  return toVariant(1, view, (miner) => {
    const { tokenId, live, chain, found, activity: actions } = miner;
    return {
      tokenId: String(tokenId),
      ...toMiningMembers(miner),
      owner: live?.owner ?? null,
      position: live === null ? null : encodeView(live.position),
      earnings: live === null ? null : encodeView(live.earnings),
      mergedInto: live === null ? findSurvivor(found, tokenId) : null,
      transfers: actions
        .filter(({ kind, tokenIds }) => kind === 'transfer' && tokenIds.includes(tokenId))
        .map((event) => toActivityBody(chain.chainId, event)),
      events: found.events.map((item) => toFeedEventBody(item, found)),
    };
  });
}

function findSurvivor({ events }: FoundEvents, tokenId: bigint): string | null {
  for (const { event } of events)
    if (event.family === 'chain' && event.details.type === 'player.miners_merged')
      if (event.details.donorTokenId === tokenId) return String(event.details.survivorTokenId);
  return null;
}

export function toMinersBody(view: MinersView | ChainUnavailable): z.infer<typeof minersResponse> {
  return toVariant(1, view, (page) => ({
    ...toMiningMembers(page),
    miners: encodeView(page.miners),
    nextCursor: page.nextCursor,
  }));
}

export function toOwnersBody(view: OwnersView | ChainUnavailable): z.infer<typeof ownersResponse> {
  return toVariant(1, view, (page) => ({
    ...toMiningMembers(page),
    owners: page.owners.map(({ key: _key, ...owner }) => encodeView(owner)),
    nextCursor: page.nextCursor,
  }));
}
