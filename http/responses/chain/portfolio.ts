import { z } from 'zod';
import {
  type ChainUnavailable,
  mergeStates,
  type PortfolioView,
} from '../../../actors/views/chain/chainViewTypes.ts';
import { encodeView } from '../encodeView.ts';
import { cursor } from '../observations.ts';
import { decimal, timestamp } from '../scalars.ts';
import {
  address,
  defineVariants,
  parseBigint,
  positiveDecimal,
  tokenDecimals,
  tokenSymbol,
  toVariant,
} from './chain.ts';

/** Tokens of one claim (CONTRACT.md, Portfolio). */
const claimLimit = z
  .string()
  .regex(/^(?:[1-9]|[12][0-9]|3[0-2])$/)
  .meta({ description: 'Decimal from 1 to 32', format: 'uint64-decimal' });

const position = z
  .strictObject({
    tokenId: positiveDecimal.describe('ID of the token'),
    level: z.int().min(1).describe('Level of the position, which merges raise'),
    activeWeight: decimal.describe('Mining power that earns now'),
    targetWeight: decimal.describe('Mining power once a pending change takes effect'),
    pendingRound: decimal
      .nullable()
      .describe('Round from which it takes effect; null where nothing is pending'),
    pendingActivationSource: z
      .enum(['mint', 'merge'])
      .nullable()
      .describe('What changes it; null where nothing is pending'),
    mergeState: z
      .enum(mergeStates)
      .describe(
        'Whether it can be merged: not any more at the highest level, not while a change is pending or before `nextMergeBlock`',
      ),
    nextMergeBlock: decimal.describe('Work block from which it can be merged'),
    blocksUntilMerge: decimal.describe('Work blocks until then; zero when it has come'),
    claimableBaseUnits: decimal.describe('Reward that can be claimed now, in base units'),
    earnedBaseUnits: decimal.describe('Reward that it has earned in all, in base units'),
    earnedSevenDayBaseUnits: decimal.describe(
      'Of these what it earned in the seven days of `earnings`, in base units',
    ),
    ownershipStartedAt: timestamp.describe('Since when the owner has it'),
    metadataStatus: z
      .enum(['available', 'unavailable'])
      .describe('Whether its metadata route has something to show'),
  })
  .refine(
    ({ pendingRound, pendingActivationSource }) =>
      (pendingRound === null) === (pendingActivationSource === null),
  )
  .meta({ id: 'Position' });

const members = {
  owner: address.describe('Address of the owner'),
  configuration: z
    .strictObject({
      genesisTimestamp: decimal.describe('Start of round 1 in Unix seconds'),
      roundDuration: positiveDecimal.describe('Length of a round in seconds'),
      claimLimit: claimLimit.describe('Most tokens that one claim may name, from 1 to 32'),
      maximumLevel: z.int().min(1).describe('Highest level'),
      tokenSymbol: tokenSymbol.describe('Ticker of the token that rewards are paid in'),
      tokenDecimals: tokenDecimals.describe('Decimals of the reward token'),
      levels: z
        .array(
          z.strictObject({
            level: z.int().min(1).describe('The level'),
            weight: decimal.describe('Mining power of a position of it'),
            cooldownBlocks: decimal.describe('Work blocks between a merge into it and the next one'),
          }),
        )
        .min(1)
        .meta({ description: 'Exactly 1 to maximumLevel, ascending' }),
    })
    .refine(
      ({ levels, maximumLevel }) =>
        levels.length === maximumLevel && levels.every(({ level }, index) => level === index + 1),
    )
    .describe('What the mining contract was configured with'),
  mining: z
    .strictObject({
      settledThroughRound: decimal.describe('Last round that is settled'),
      currentRound: decimal.describe('Round at the time of the safe block; zero before the genesis'),
      completedBlockHeight: decimal.describe('Completed work blocks'),
      lastAppliedRound: decimal.describe('Last round whose changes of weight count'),
      totalWeight: decimal.describe('Active mining power of all positions of all owners'),
    })
    .describe('What the mining contract says'),
  summary: z
    .strictObject({
      positionCount: decimal.describe('How many tokens the owner has'),
      activeWeight: decimal.describe('Their mining power that earns now'),
      targetWeight: decimal.describe('Their mining power once pending changes take effect'),
      claimableBaseUnits: decimal.describe('What can be claimed now, in base units'),
      earnedBaseUnits: decimal.describe('What they have earned in all, in base units'),
      earnedSevenDayBaseUnits: decimal.describe(
        'Of these what they earned in the seven days of `earnings`, in base units',
      ),
    })
    .describe('Of all positions of the owner, not of the page alone'),
  earnings: z
    .array(
      z.strictObject({
        date: z.iso.date().describe('Date in UTC'),
        earnedBaseUnits: decimal.describe('Earned on it, in base units'),
      }),
    )
    .length(7)
    .describe(
      'Seven days, oldest first, the last one that of the safe block; days without earnings are there',
    ),
  positions: z
    .array(position)
    .max(100)
    .refine((positions) => isAscending(positions.map(({ tokenId }) => parseBigint(tokenId))))
    .meta({ description: 'Ascending by token ID, each once' }),
  nextCursor: cursor.nullable().describe('Where the next page begins; null on the last one'),
};

function isAscending(values: readonly bigint[]): boolean {
  return values.every((value, index) => index === 0 || value > (values[index - 1] as bigint));
}

export const publicPortfolioResponse = defineVariants(2, members).meta({
  id: 'PublicPortfolio',
  description: 'Owner portfolio of the public route',
});
export const plainPortfolioResponse = defineVariants(1, members).meta({
  id: 'Portfolio',
  description: 'Owner portfolio of the plain route',
});

export function toPortfolioBody<Version extends number>(
  version: Version,
  view: PortfolioView | ChainUnavailable,
) {
  return toVariant(version, view, toMembers);
}

function toMembers(view: PortfolioView) {
  const { configuration, mining, summary, earnings, positions } = view;
  return {
    owner: view.owner,
    configuration: {
      genesisTimestamp: configuration.genesisTimestamp.toString(),
      roundDuration: configuration.roundDuration.toString(),
      claimLimit: configuration.claimLimit.toString(),
      maximumLevel: configuration.levels.length,
      tokenSymbol: configuration.tokenSymbol,
      tokenDecimals: configuration.tokenDecimals,
      levels: configuration.levels.map(({ weight, cooldownBlocks }, index) => ({
        level: index + 1,
        weight: weight.toString(),
        cooldownBlocks: cooldownBlocks.toString(),
      })),
    },
    ...encodeView({ mining, summary, earnings, positions }),
    nextCursor: view.nextCursor,
  };
}
