import { z } from 'zod';
import {
  type ChainUnavailable,
  mergeStates,
  type PortfolioView,
  type PositionView,
} from '../../actors/views/chainViewTypes.ts';
import {
  address,
  availableMembers,
  defineUnavailableWithRelease,
  parseBigint,
  positiveDecimal,
  toAvailableMembers,
  tokenDecimals,
  tokenSymbol,
  toUnavailableBodyWithRelease,
} from './chain.ts';
import { toIsoString } from './isoTime.ts';
import { cursor } from './observations.ts';
import { decimal, timestamp } from './scalars.ts';

/** Tokens of one claim (CONTRACT.md, Portfolio). */
const claimLimit = z
  .string()
  .regex(/^(?:[1-9]|[12][0-9]|3[0-2])$/)
  .meta({ description: 'Decimal from 1 to 32' });

const position = z
  .strictObject({
    tokenId: positiveDecimal,
    level: z.int().min(1),
    activeWeight: decimal,
    targetWeight: decimal,
    pendingRound: decimal.nullable(),
    pendingActivationSource: z.enum(['mint', 'merge']).nullable(),
    mergeState: z.enum(mergeStates),
    nextMergeBlock: decimal,
    blocksUntilMerge: decimal,
    claimableBaseUnits: decimal,
    earnedBaseUnits: decimal,
    earnedSevenDayBaseUnits: decimal,
    ownershipStartedAt: timestamp,
    metadataStatus: z.enum(['available', 'unavailable']),
  })
  .refine(
    ({ pendingRound, pendingActivationSource }) =>
      (pendingRound === null) === (pendingActivationSource === null),
  )
  .meta({ id: 'Position' });

const members = {
  ...availableMembers,
  owner: address,
  configuration: z
    .strictObject({
      genesisTimestamp: decimal,
      roundDuration: positiveDecimal,
      claimLimit,
      maximumLevel: z.int().min(1),
      tokenSymbol,
      tokenDecimals,
      levels: z
        .array(z.strictObject({ level: z.int().min(1), weight: decimal, cooldownBlocks: decimal }))
        .min(1)
        .meta({ description: 'Exactly 1 to maximumLevel, ascending' }),
    })
    .refine(
      ({ levels, maximumLevel }) =>
        levels.length === maximumLevel && levels.every(({ level }, index) => level === index + 1),
    ),
  mining: z.strictObject({
    settledThroughRound: decimal,
    currentRound: decimal,
    completedBlockHeight: decimal,
    lastAppliedRound: decimal,
    totalWeight: decimal,
  }),
  summary: z.strictObject({
    positionCount: decimal,
    activeWeight: decimal,
    targetWeight: decimal,
    claimableBaseUnits: decimal,
    earnedBaseUnits: decimal,
    earnedSevenDayBaseUnits: decimal,
  }),
  earnings: z.array(z.strictObject({ date: z.iso.date(), earnedBaseUnits: decimal })).length(7),
  positions: z
    .array(position)
    .max(100)
    .refine((positions) => isAscending(positions.map(({ tokenId }) => parseBigint(tokenId))))
    .meta({ description: 'Ascending by token ID, each once' }),
  nextCursor: cursor.nullable(),
};

function isAscending(values: readonly bigint[]): boolean {
  return values.every((value, index) => index === 0 || value > (values[index - 1] as bigint));
}

function defineResponse<Version extends number>(version: Version) {
  return z.discriminatedUnion('status', [
    z.strictObject({ schemaVersion: z.literal(version), ...members }),
    defineUnavailableWithRelease(version),
  ]);
}

export const publicPortfolioResponse = defineResponse(2).meta({
  id: 'PublicPortfolio',
  description: 'Owner portfolio of the public route',
});
export const plainPortfolioResponse = defineResponse(1).meta({
  id: 'Portfolio',
  description: 'Owner portfolio of the plain route',
});

type View = PortfolioView | ChainUnavailable;

export function toPublicPortfolioBody(view: View): z.infer<typeof publicPortfolioResponse> {
  return view.status === 'unavailable'
    ? toUnavailableBodyWithRelease(2, view)
    : { schemaVersion: 2, ...toAvailableBody(view) };
}

export function toPlainPortfolioBody(view: View): z.infer<typeof plainPortfolioResponse> {
  return view.status === 'unavailable'
    ? toUnavailableBodyWithRelease(1, view)
    : { schemaVersion: 1, ...toAvailableBody(view) };
}

function toAvailableBody(view: PortfolioView) {
  const { configuration, mining, summary } = view;
  return {
    ...toAvailableMembers(view),
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
    mining: {
      settledThroughRound: mining.settledThroughRound.toString(),
      currentRound: mining.currentRound.toString(),
      completedBlockHeight: mining.completedBlockHeight.toString(),
      lastAppliedRound: mining.lastAppliedRound.toString(),
      totalWeight: mining.totalWeight.toString(),
    },
    summary: {
      positionCount: summary.positionCount.toString(),
      activeWeight: summary.activeWeight.toString(),
      targetWeight: summary.targetWeight.toString(),
      claimableBaseUnits: summary.claimableBaseUnits.toString(),
      earnedBaseUnits: summary.earnedBaseUnits.toString(),
      earnedSevenDayBaseUnits: summary.earnedSevenDayBaseUnits.toString(),
    },
    earnings: view.earnings.map(({ date, earnedBaseUnits }) => ({
      date,
      earnedBaseUnits: earnedBaseUnits.toString(),
    })),
    positions: view.positions.map(toPositionBody),
    nextCursor: view.nextCursor,
  };
}

function toPositionBody(view: PositionView): z.infer<typeof position> {
  return {
    tokenId: view.tokenId.toString(),
    level: view.level,
    activeWeight: view.activeWeight.toString(),
    targetWeight: view.targetWeight.toString(),
    pendingRound: view.pendingRound?.toString() ?? null,
    pendingActivationSource: view.pendingActivationSource,
    mergeState: view.mergeState,
    nextMergeBlock: view.nextMergeBlock.toString(),
    blocksUntilMerge: view.blocksUntilMerge.toString(),
    claimableBaseUnits: view.claimableBaseUnits.toString(),
    earnedBaseUnits: view.earnedBaseUnits.toString(),
    earnedSevenDayBaseUnits: view.earnedSevenDayBaseUnits.toString(),
    ownershipStartedAt: toIsoString(view.ownershipStartedAtMs),
    metadataStatus: view.metadataStatus,
  };
}
