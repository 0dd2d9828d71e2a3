import { z } from 'zod';
import { mintRoundStates } from '../../../actors/views/chain/settlementHistory.ts';
import type { SettlementHistoryView } from '../../../actors/views/chain/settlementView.ts';
import { encodeView } from '../encodeView.ts';
import { availableStatus, decimal, defineObject, timestamp, unavailableStatus } from '../scalars.ts';
import { address, tokenDecimals, tokenSymbol, versionId } from './chain.ts';
import { checkpoint, toCheckpointBody } from './settlementRecords.ts';

const miningAvailable = defineObject('SettlementMiningAvailable', {
  status: availableStatus,
  economy: defineObject('SettlementMiningEconomy', {
    releaseId: versionId.describe('ID of the contracts’ release'),
    mining: address.describe('Contract that mints and pays rewards'),
    token: address.describe('Contract of the reward token'),
    symbol: tokenSymbol.describe('Ticker of the token'),
    decimals: tokenDecimals.describe('Decimals of the token'),
  }).describe('The reward contracts'),
  rewardPerBlock: decimal.describe('Reward for a completed work block, in base units'),
  supplyCap: decimal.describe('Maximum that will ever be minted, in base units'),
  totalMintedBaseUnits: decimal.describe('Total minted, in base units'),
  unmintedCapacityBaseUnits: decimal.describe('Supply cap less minted, in base units'),
  processedThroughRound: decimal.describe('Last round that a checkpoint has processed'),
  rangeMintedBaseUnits: decimal.describe('Minted in the range, in base units'),
  rangeCheckpointCount: decimal.describe('Number of checkpoints in the range'),
  nextRound: defineObject('SettlementMiningNextRound', {
    state: z
      .enum(mintRoundStates)
      .meta({ id: 'SettlementMiningNextRoundState' })
      .describe('`ready` once the next round is settled, `accruing` until then'),
    round: decimal.describe('First round that no checkpoint has processed'),
    countedThroughRound: decimal.describe(
      'Last round that the amount includes: the later of the settled frontier and the last processed round',
    ),
    startsAt: timestamp.describe('Start of `round`'),
    endsAt: timestamp.describe('End of `round`'),
    previousCumulativeBlockUnits: decimal.describe('All settled block units before `round`'),
    cumulativeBlockUnits: decimal.describe('All settled block units through `countedThroughRound`'),
    completedBlockCount: decimal.describe('Number of work blocks whose reward would be minted'),
    eligibleWeight: decimal.describe('Weight that would share the reward'),
    amountBaseUnits: decimal.describe('Amount that would be minted, in base units; not minted yet'),
  }).describe('Preview of a checkpoint through all settled rounds'),
  recentCheckpoints: z.array(checkpoint).max(12).describe('The newest 12 of the range, newest first'),
});

export const mining = z
  .discriminatedUnion('status', [
    miningAvailable,
    defineObject('SettlementMiningUnavailable', {
      status: unavailableStatus,
      reason: z
        .enum(['not_configured', 'not_yet_safe'])
        .meta({ id: 'SettlementMiningReason' })
        .describe(
          '`not_configured` if these contracts have no economy, `not_yet_safe` until its deployment is safe',
        ),
    }),
  ])
  .meta({ id: 'SettlementMining' });

export function toMiningBody({
  issuance,
  contracts,
  release,
}: SettlementHistoryView): z.infer<typeof mining> {
  if (typeof issuance === 'string') return { status: 'unavailable', reason: issuance };
  const { configuration, nextRound, totalMintedBaseUnits } = issuance;
  return {
    status: 'available',
    economy: {
      releaseId: release.id,
      mining: contracts.mining,
      token: contracts.token,
      symbol: issuance.symbol,
      decimals: issuance.decimals,
    },
    rewardPerBlock: configuration.rewardPerBlock.toString(),
    supplyCap: configuration.supplyCap.toString(),
    totalMintedBaseUnits: totalMintedBaseUnits.toString(),
    unmintedCapacityBaseUnits: (configuration.supplyCap - totalMintedBaseUnits).toString(),
    processedThroughRound: issuance.processedThroughRound.toString(),
    rangeMintedBaseUnits: issuance.rangeMintedBaseUnits.toString(),
    rangeCheckpointCount: issuance.rangeCheckpointCount.toString(),
    nextRound: encodeView(nextRound),
    recentCheckpoints: issuance.recentCheckpoints.map(toCheckpointBody),
  };
}
