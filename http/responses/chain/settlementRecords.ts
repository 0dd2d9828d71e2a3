import { z } from 'zod';
import { countWholeBlocks } from '../../../actors/chain/state/blockUnits.ts';
import type { Checkpoint, Settlement } from '../../../actors/chain/state/settlements.ts';
import type { EventSource } from '../../../actors/events/eventSchemas.ts';
import { encodeView, toIsoString } from '../encodeView.ts';
import { bytes32, decimal, defineObject, positiveDecimal, timestamp } from '../scalars.ts';

const onChain = {
  transactionHash: bytes32.describe('Hash of its transaction'),
  ethereumBlockNumber: decimal.describe('Number of its block on the chain'),
  blockTimestamp: timestamp.describe('Time of its block'),
  logIndex: z.int().min(0).describe('Index of its log in the block, from 0'),
  confirmationStatus: z.literal('safe').describe('The block has 12 confirmations'),
};

export const settlement = defineObject('Settlement', {
  previousSettledThroughRound: decimal.describe('Last round that was settled before it'),
  settledThroughRound: decimal.describe('Last round that it settled'),
  activeRoundCount: decimal.describe('Number of its rounds with work'),
  workAdded: decimal.describe('Work that it settled, in work units'),
  cumulativeWork: decimal.describe('All settled work through it, in work units'),
  cumulativeBlockUnits: decimal.describe(
    'All settled block units through it; a work block has 1,000,000,000',
  ),
  firstCompletedBlock: positiveDecimal.describe('First work block that it completed'),
  lastCompletedBlock: positiveDecimal.describe('Last work block that it completed'),
  completedBlockCount: positiveDecimal.meta({
    description: 'Number of work blocks that it completed; a settlement without any is not listed',
  }),
  blockHeight: positiveDecimal.describe('Number of work blocks completed through it'),
  ...onChain,
  sqkMintedBaseUnits: decimal.optional().meta({
    description: 'Reward token minted for its rounds, in base units; present once all are processed',
  }),
});

export const checkpoint = defineObject('Checkpoint', {
  afterRound: decimal.describe('Last round of the previous checkpoint'),
  throughRound: decimal.describe('Last round that it processed'),
  completedBlockCount: decimal.describe('Number of work blocks that its rounds completed'),
  cumulativeWork: decimal.describe('All settled work through its last round, in work units'),
  cumulativeBlockUnits: decimal.describe('All settled block units through its last round'),
  eligibleWeight: decimal.describe('Weight that shared the reward'),
  amountBaseUnits: decimal.describe('Reward token that it minted, in base units'),
  totalMintedBaseUnits: decimal.describe('All reward token minted through it, in base units'),
  ...onChain,
});

export function toSettlementBody(
  record: Settlement,
  processedThroughRound: bigint,
): z.infer<typeof settlement> {
  const { source, previousCumulativeBlockUnits, mintedBaseUnits, ...sums } = record;
  const heightBefore = countWholeBlocks(previousCumulativeBlockUnits);
  const blockHeight = countWholeBlocks(record.cumulativeBlockUnits);
  return {
    ...encodeView({
      ...sums,
      firstCompletedBlock: heightBefore + 1n,
      lastCompletedBlock: blockHeight,
      completedBlockCount: blockHeight - heightBefore,
      blockHeight,
    }),
    ...toOnChainBody(source),
    sqkMintedBaseUnits:
      processedThroughRound >= record.settledThroughRound ? mintedBaseUnits.toString() : undefined,
  };
}

export function toCheckpointBody(record: Checkpoint): z.infer<typeof checkpoint> {
  const { source, ...sums } = record;
  return { ...encodeView(sums), ...toOnChainBody(source) };
}

function toOnChainBody(source: EventSource) {
  return {
    transactionHash: source.transactionHash,
    ethereumBlockNumber: source.blockNumber.toString(),
    blockTimestamp: toIsoString(source.blockTimestampMs),
    logIndex: source.logIndex,
    confirmationStatus: 'safe' as const,
  };
}
