import { z } from 'zod';
import { collectionPhases } from '../../../actors/chain/state/collectionPhase.ts';
import type { IssuanceView } from '../../../actors/views/chain/coreViews.ts';
import { type ChainUnavailable, chainUnavailableReasons } from '../../../actors/views/chain/shownStates.ts';
import { encodeView, toIsoStringOrNull } from '../encodeView.ts';
import { decimal, defineObject, schemaVersion, timestamp } from '../scalars.ts';
import { asset, availableMembers, defineUnavailableWithRelease, defineVariants, toVariant } from './chain.ts';

const collection = z
  .strictObject({
    phase: z
      .enum(collectionPhases)
      .meta({ id: 'CollectionStatePhase' })
      .describe('Phase of the sale at the time of the safe block'),
    paused: z.boolean().describe('Whether minting is paused'),
    publicMinted: decimal.describe('Number of tokens minted from the public allocation'),
    publicAllocation: decimal.describe('Number of tokens for the public'),
    reserveMinted: decimal.describe('Number of tokens minted from the reserve'),
    protocolReserve: decimal.describe('Number of tokens reserved for the protocol'),
    publicPriceBaseUnits: decimal.meta({
      description: 'Price of a mint, in base units of the chain’s native coin',
    }),
    allowlistStart: timestamp.nullable().describe('Start of the sale to the allowlist; null without a sale'),
    allowlistEnd: timestamp.nullable().describe('Start of the public sale; null without a sale'),
  })
  .meta({ id: 'CollectionState', description: 'State of the collection’s sale' });

const rewardToken = asset.describe('The reward token');

const issuanceMembers = {
  mintedBaseUnits: decimal.describe('Reward token minted by all checkpoints, in base units'),
  tokenSupplyBaseUnits: decimal.describe('Total supply that the token reports, in base units'),
  unmintedCapacityBaseUnits: decimal.describe('Supply cap less minted, in base units'),
};

const plainAvailable = defineObject('MiningStateAvailable', {
  schemaVersion: schemaVersion(1),
  ...availableMembers,
  asset: rewardToken,
  issuance: defineObject('MiningStateIssuance', {
    ...issuanceMembers,
    closedThroughBlock: decimal.describe('Last work block whose reward is minted'),
    processedThroughRound: decimal.describe('Last round that a checkpoint has processed'),
    lastActivationRound: decimal.describe('Last round whose weight changes have taken effect'),
    supplyCapBaseUnits: decimal.optional().describe('Maximum that will ever be minted, in base units'),
    paidBaseUnits: decimal.optional().describe('Rewards claimed by owners, in base units'),
  }).describe('Issued rewards, without settled work that no checkpoint has processed'),
  livePositionCount: decimal.optional().describe('Number of tokens of the collection that exist'),
  collection: collection.optional().describe('The sale of the collection’s tokens'),
});

export const minerStateResponse = defineVariants(
  2,
  {
    asset: rewardToken,
    issuance: defineObject('MinerStateIssuance', {
      ...issuanceMembers,
      mintedThroughBlock: decimal.describe('Last work block whose reward is minted'),
      mintedThroughRound: decimal.describe('Last round that a checkpoint has processed'),
      lastAppliedRound: decimal.describe('Last round whose weight changes have taken effect'),
    }).describe('Issued rewards, without settled work that no checkpoint has processed'),
    collection: collection.optional().describe('The sale of the collection’s tokens'),
  },
  { id: 'MinerState', description: 'Issuance and collection state of the public route' },
);

/** The contract lists two more reasons for this route. Today it reports their conditions as `indexer_unavailable`. */
const plainUnavailable = defineUnavailableWithRelease(1)
  .extend({
    reason: z
      .enum([...chainUnavailableReasons, 'unsupported_contract_version', 'projection_rebuilding'])
      .meta({ id: 'MiningStateReason' })
      .describe(
        'Why nothing is shown. Today `indexer_unavailable` stands for `unsupported_contract_version` and `projection_rebuilding` too',
      ),
  })
  .meta({ id: 'MiningStateUnavailable' });
export const miningStateResponse = z
  .discriminatedUnion('status', [plainAvailable, plainUnavailable])
  .meta({ id: 'MiningState', description: 'Issuance and collection state of the plain route' });

export function toMinerStateBody(view: IssuanceView | ChainUnavailable): z.infer<typeof minerStateResponse> {
  return toVariant(2, view, (available) => ({
    asset: available.asset,
    issuance: encodeView({
      ...listAmounts(available),
      mintedThroughBlock: available.closedThroughBlock,
      mintedThroughRound: available.processedThroughRound,
      lastAppliedRound: available.lastActivationRound,
    }),
    collection: toCollectionBody(available),
  }));
}

export function toMiningStateBody(
  view: IssuanceView | ChainUnavailable,
): z.infer<typeof miningStateResponse> {
  return toVariant(1, view, (available) => ({
    asset: available.asset,
    issuance: encodeView({
      ...listAmounts(available),
      closedThroughBlock: available.closedThroughBlock,
      processedThroughRound: available.processedThroughRound,
      lastActivationRound: available.lastActivationRound,
      supplyCapBaseUnits: available.supplyCap,
      paidBaseUnits: available.paidBaseUnits,
    }),
    livePositionCount: available.livePositionCount.toString(),
    collection: toCollectionBody(available),
  }));
}

function listAmounts({ mintedBaseUnits, tokenSupplyBaseUnits, supplyCap }: IssuanceView) {
  return { mintedBaseUnits, tokenSupplyBaseUnits, unmintedCapacityBaseUnits: supplyCap - mintedBaseUnits };
}

function toCollectionBody({ collection: { sale, ...state } }: IssuanceView): z.infer<typeof collection> {
  return encodeView({
    phase: state.phase,
    paused: state.paused,
    publicMinted: state.publicMinted,
    publicAllocation: sale?.publicAllocation ?? 0n,
    reserveMinted: state.reserveMinted,
    protocolReserve: sale?.protocolReserve ?? 0n,
    publicPriceBaseUnits: sale?.publicPrice ?? 0n,
    allowlistStart: toIsoStringOrNull(sale === null ? null : Number(sale.allowlistStart) * 1000),
    allowlistEnd: toIsoStringOrNull(sale === null ? null : Number(sale.allowlistEnd) * 1000),
  });
}
