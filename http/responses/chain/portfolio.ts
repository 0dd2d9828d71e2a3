import { z } from 'zod';
import { mergeStates } from '../../../actors/chain/state/mergeState.ts';
import type { MiningView, PortfolioView } from '../../../actors/views/chain/ownerViews.ts';
import type { ChainUnavailable } from '../../../actors/views/chain/shownStates.ts';
import { encodeView } from '../encodeView.ts';
import { cursor, decimal, defineObject, pageMax, positiveDecimal, timestamp } from '../scalars.ts';
import { address, defineVariants, parseBigint, tokenDecimals, tokenSymbol, toVariant } from './chain.ts';

/** Number of tokens in one claim (CONTRACT.md, Portfolio). */
const claimLimit = z
  .string()
  .regex(/^(?:[1-9]|[12][0-9]|3[0-2])$/)
  .meta({ description: 'Decimal from 1 to 32', format: 'uint64-decimal' });

export const position = z
  .strictObject({
    tokenId: positiveDecimal.describe('ID of the token'),
    level: z.int().min(1).describe('Level of the position; a merge raises it'),
    activeWeight: decimal.describe('Mining power that earns now'),
    targetWeight: decimal.describe('Mining power after a pending change'),
    pendingRound: decimal
      .nullable()
      .describe('Round in which the pending change takes effect; null without one'),
    pendingActivationSource: z
      .enum(['mint', 'merge'])
      .meta({ id: 'PositionPendingActivationSource' })
      .nullable()
      .describe('Cause of the pending change; null without one'),
    mergeState: z
      .enum(mergeStates)
      .meta({ id: 'PositionMergeState' })
      .describe(
        '`terminal` at the highest level, `pending` during a pending change, `cooldown` before `nextMergeBlock`, otherwise `ready`',
      ),
    nextMergeBlock: decimal.describe('Work block from which it can be merged'),
    blocksUntilMerge: decimal.describe('Work blocks until `nextMergeBlock`, at least zero'),
    claimableBaseUnits: decimal.describe('Reward that can be claimed now, in base units'),
    earnedBaseUnits: decimal.describe('All reward that it has earned, in base units'),
    earnedSevenDayBaseUnits: decimal.describe('Reward earned in the seven days of `earnings`, in base units'),
    ownershipStartedAt: timestamp.describe('When the owner received it'),
    metadataStatus: z
      .enum(['available', 'unavailable'])
      .meta({ id: 'PositionMetadataStatus' })
      .describe('Whether its metadata is available'),
  })
  .refine(
    ({ pendingRound, pendingActivationSource }) =>
      (pendingRound === null) === (pendingActivationSource === null),
  )
  .meta({ id: 'Position' });

/** Members that all positions have. */
export const miningMembers = {
  configuration: z
    .strictObject({
      genesisTimestamp: decimal.describe('Start of round 1 in Unix seconds'),
      roundDuration: positiveDecimal.describe('Length of a round in seconds'),
      claimLimit: claimLimit.describe('Maximum number of tokens in one claim, 1 to 32'),
      maximumLevel: z.int().min(1).describe('Highest level'),
      tokenSymbol: tokenSymbol.describe('Ticker of the reward token'),
      tokenDecimals: tokenDecimals.describe('Decimals of the reward token'),
      levels: z
        .array(
          defineObject('MinerConfigurationLevel', {
            level: z.int().min(1).describe('The level'),
            weight: decimal.describe('Mining power of a position at this level'),
            cooldownBlocks: decimal.describe('Work blocks to wait after a merge into this level'),
          }),
        )
        .min(1)
        .meta({ description: 'All levels from 1 to `maximumLevel`, ascending' }),
    })
    .refine(
      ({ levels, maximumLevel }) =>
        levels.length === maximumLevel && levels.every(({ level }, index) => level === index + 1),
    )
    .meta({ id: 'MinerConfiguration' })
    .describe('Configuration of the mining contract'),
  mining: defineObject('MinerMining', {
    settledThroughRound: decimal.describe('Last settled round'),
    currentRound: decimal.describe('Round at the time of the safe block; zero before the genesis'),
    completedBlockHeight: decimal.describe('Number of completed work blocks'),
    lastAppliedRound: decimal.describe('Last round whose weight changes have taken effect'),
    totalWeight: decimal.describe('Active mining power of all owners'),
  }).describe('State of the mining contract'),
};

export const earnings = z
  .array(
    defineObject('MinerEarnings', {
      date: z.iso.date().describe('Date in UTC'),
      earnedBaseUnits: decimal.describe('Reward earned on this date, in base units'),
    }),
  )
  .length(7)
  .describe('Seven days through the date of the safe block, oldest first, including days without earnings');

const summary = {
  positionCount: decimal.describe('Number of tokens of the owner'),
  activeWeight: decimal.describe('Mining power that earns now'),
  targetWeight: decimal.describe('Mining power after pending changes'),
  claimableBaseUnits: decimal.describe('Reward that can be claimed now, in base units'),
  earnedBaseUnits: decimal.describe(
    'All reward that these tokens have earned, also for earlier owners, in base units',
  ),
  earnedSevenDayBaseUnits: decimal.describe('Reward earned in the seven days of `earnings`, in base units'),
};
const summaryMeaning = 'Totals of all the owner’s positions, not only of the page';

const members = {
  owner: address.describe('Address of the owner'),
  ...miningMembers,
  summary: defineObject('PublicPortfolioSummary', summary).describe(summaryMeaning),
  earnings,
  positions: z
    .array(position)
    .max(pageMax)
    .refine((positions) => isAscending(positions.map(({ tokenId }) => parseBigint(tokenId))))
    .meta({ description: 'Ascending by token ID, each once' }),
  nextCursor: cursor.nullable().describe('Requests the next page; null on the last page'),
};

function isAscending(values: readonly bigint[]): boolean {
  return values.every((value, index) => index === 0 || value > (values[index - 1] as bigint));
}

export const publicPortfolioResponse = defineVariants(2, members, {
  id: 'PublicPortfolio',
  description: 'Owner portfolio of the public route',
});
const plainMembers = {
  ...members,
  summary: defineObject('PortfolioSummary', {
    ...summary,
    paidBaseUnits: decimal.describe(
      'Reward that claims have paid to the owner, also of tokens that it has given away since, in base units',
    ),
  }).describe(summaryMeaning),
};
export const plainPortfolioResponse = defineVariants(1, plainMembers, {
  id: 'Portfolio',
  description: 'Owner portfolio of the plain route',
});

export const toPublicPortfolioBody = (view: PortfolioView | ChainUnavailable) =>
  toVariant(2, view, toMembers);

export const toPlainPortfolioBody = (view: PortfolioView | ChainUnavailable) =>
  toVariant(1, view, (available) => {
    const common = toMembers(available);
    const paidBaseUnits = available.paidBaseUnits.toString();
    return { ...common, summary: { ...common.summary, paidBaseUnits } };
  });

function toMembers(view: PortfolioView) {
  const { owner, summary: totals, earnings: earned, positions, nextCursor } = view;
  return {
    owner,
    ...toMiningMembers(view),
    ...encodeView({ summary: totals, earnings: earned, positions }),
    nextCursor,
  };
}

export function toMiningMembers({ configuration, mining }: MiningView) {
  const { genesisTimestamp, roundDuration, claimLimit, tokenSymbol, tokenDecimals, levels } = configuration;
  return encodeView({
    configuration: {
      genesisTimestamp,
      roundDuration,
      claimLimit,
      maximumLevel: levels.length,
      tokenSymbol,
      tokenDecimals,
      levels: levels.map((level, index) => ({ level: index + 1, ...level })),
    },
    mining,
  });
}
