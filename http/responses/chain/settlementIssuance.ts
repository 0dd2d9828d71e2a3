import { z } from 'zod';
import { mintRoundStates, type SettlementHistoryView } from '../../../actors/views/chain/chainViewTypes.ts';
import { encodeView } from '../encodeView.ts';
import { availableStatus, decimal, timestamp, unavailableStatus } from '../scalars.ts';
import { address, tokenDecimals, tokenSymbol, versionId } from './chain.ts';
import { checkpoint, toCheckpointBody } from './settlementRecords.ts';

const miningAvailable = z.strictObject({
  status: availableStatus,
  economy: z
    .strictObject({
      releaseId: versionId.describe('Names the release of the contracts'),
      mining: address.describe('Contract that mints and pays rewards'),
      token: address.describe('Contract of the reward token'),
      symbol: tokenSymbol.describe('Ticker of the token'),
      decimals: tokenDecimals.describe('Decimals of the token'),
    })
    .describe('The contracts of the reward'),
  rewardPerBlock: decimal.describe('Reward for a completed work block, in base units'),
  supplyCap: decimal.describe('Most that will ever be minted, in base units'),
  totalMintedBaseUnits: decimal.describe('All that was minted, in base units'),
  unmintedCapacityBaseUnits: decimal.describe('What the cap leaves, in base units'),
  processedThroughRound: decimal.describe('Last round that a checkpoint has minted for'),
  rangeMintedBaseUnits: decimal.describe('Minted in the range, in base units'),
  rangeCheckpointCount: decimal.describe('Checkpoints in the range'),
  nextRound: z
    .strictObject({
      state: z
        .enum(mintRoundStates)
        .describe('`ready` once the next round is settled, `accruing` until then'),
      round: decimal.describe('The first round that no checkpoint has minted for'),
      countedThroughRound: decimal.describe(
        'Last round that the amount counts: the settled frontier, or the last processed round where that is later',
      ),
      startsAt: timestamp.describe('Start of `round`'),
      endsAt: timestamp.describe('End of `round`'),
      previousCumulativeBlockUnits: decimal.describe('All settled block units before `round`'),
      cumulativeBlockUnits: decimal.describe('All settled block units through `countedThroughRound`'),
      completedBlockCount: decimal.describe('Work blocks that a checkpoint would mint for'),
      eligibleWeight: decimal.describe('Weight that would share in it'),
      amountBaseUnits: decimal.describe(
        'What a checkpoint through all settled rounds would mint, in base units; not minted yet',
      ),
    })
    .describe('What a checkpoint through all settled rounds would mint now'),
  recentCheckpoints: z.array(checkpoint).max(12).describe('The newest 12 of the range, newest first'),
});

export const mining = z
  .discriminatedUnion('status', [
    miningAvailable,
    z.strictObject({
      status: unavailableStatus,
      reason: z
        .enum(['not_configured', 'not_yet_safe'])
        .describe(
          '`not_configured` without an economy of these contracts, `not_yet_safe` while its deployment is not safe',
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
