import { z } from 'zod';
import { memoizeByIdentity } from '../../../actors/caching/memoizeByIdentity.ts';
import type { FeedItem } from '../../../actors/feed/feedItem.ts';
import type { ChainUnavailable } from '../../../actors/views/chain/shownStates.ts';
import { type RoundPage, type RoundsView, roundStates } from '../../../actors/views/roundViews.ts';
import { defineVariants, toVariant } from '../chain/chain.ts';
import { encodeView } from '../encodeView.ts';
import { checkpointEvent, settlementEvent, toFeedEventBody } from '../feed/feedEvent.ts';
import { cursor, decimal, defineObject, pageMax, positiveDecimal, timestamp } from '../scalars.ts';

const round = defineObject('Round', {
  roundId: positiveDecimal.describe('Number of the round, from 1'),
  startAt: timestamp.describe('Start, inclusive'),
  endAt: timestamp.describe('End, exclusive'),
  state: z
    .enum(roundStates)
    .meta({ id: 'RoundState' })
    .describe(
      '`future` before its start, `open` while it is measured, `ended` until the oracle closes it, `closed` until it is settled, then `settled`',
    ),
  settlement: settlementEvent
    .nullable()
    .describe('The settlement of its batch; null before, and once events of its age are kept no longer'),
  checkpoint: checkpointEvent
    .nullable()
    .describe(
      'The checkpoint that has processed it, with the amount of all its rounds; null before, and once events of its age are kept no longer',
    ),
  sqkMintedBaseUnits: decimal
    .nullable()
    .describe(
      'Reward token minted for it, in base units; null unless it is one of the newest 42 with minted rewards',
    ),
});

export const roundResponse = defineVariants(
  1,
  { round: round.describe('The round') },
  {
    id: 'RoundRecord',
    description: 'One round, its settlement and its checkpoint',
  },
);

export const roundsResponse = defineVariants(
  1,
  {
    rounds: z.array(round).max(pageMax).describe('Rounds that have begun, newest first'),
    nextCursor: cursor.nullable().describe('Requests the next page; null on the last page'),
  },
  { id: 'Rounds', description: 'A page of rounds' },
);

function toBodies(view: RoundsView): z.infer<typeof round>[] {
  // Many rounds have the same batch and checkpoint.
  const toEventOnce = memoizeByIdentity((item: FeedItem) => toFeedEventBody(item, view));
  return view.rounds.map(({ settlement, checkpoint, mintedBaseUnits, ...members }) => ({
    ...encodeView(members),
    // The view has selected their types.
    settlement: settlement && (toEventOnce(settlement) as z.infer<typeof settlementEvent>),
    checkpoint: checkpoint && (toEventOnce(checkpoint) as z.infer<typeof checkpointEvent>),
    sqkMintedBaseUnits: mintedBaseUnits === null ? null : String(mintedBaseUnits),
  }));
}

/** @throws Error unless the view has one round. */
export function toRoundBody(view: RoundsView | ChainUnavailable): z.infer<typeof roundResponse> {
  return toVariant(1, view, (found) => {
    const [only] = toBodies(found);
    if (only === undefined) throw new Error('the round is missing in its view');
    return { round: only };
  });
}

export function toRoundsBody(view: RoundPage | ChainUnavailable): z.infer<typeof roundsResponse> {
  return toVariant(1, view, (found) => ({
    rounds: toBodies(found),
    nextCursor: found.nextCursor,
  }));
}
