import { z } from 'zod';
import {
  type ChainUnavailable,
  chainUnavailableReasons,
  collectionPhases,
  type IssuanceView,
} from '../../../actors/views/chain/chainViewTypes.ts';
import { encodeView } from '../encodeView.ts';
import { toIsoStringOrNull } from '../isoTime.ts';
import { decimal, schemaVersion, timestamp } from '../scalars.ts';
import { asset, availableMembers, defineUnavailableWithRelease, defineVariants, toVariant } from './chain.ts';

const collection = z
  .strictObject({
    phase: z
      .enum(collectionPhases)
      .describe('The first that holds at the time of the safe block, so that a timed change needs no event'),
    paused: z.boolean().describe('Whether minting is paused'),
    publicMinted: decimal.describe('Tokens minted of the public allocation'),
    publicAllocation: decimal.describe('Tokens for the public'),
    reserveMinted: decimal.describe('Tokens minted of the reserve'),
    protocolReserve: decimal.describe('Tokens that the protocol keeps for itself'),
    publicPriceBaseUnits: decimal.meta({ description: 'Price of a mint in the chain’s native coin' }),
    allowlistStart: timestamp
      .nullable()
      .describe('Start of the sale to those on the list; null where none is set'),
    allowlistEnd: timestamp
      .nullable()
      .describe('Its end, from which the public may mint; null where none is set'),
  })
  .meta({ id: 'CollectionState', description: 'The sale, its phase at the time of the safe block' });

const members = {
  asset: asset.describe('The reward token'),
};

const issuanceMembers = {
  mintedBaseUnits: decimal.describe('All reward token that checkpoints minted, in base units'),
  tokenSupplyBaseUnits: decimal.describe('What the token says exists, in base units'),
  unmintedCapacityBaseUnits: decimal.describe('What the cap leaves, in base units'),
};

const plainAvailable = z.strictObject({
  schemaVersion: schemaVersion(1),
  ...availableMembers,
  ...members,
  issuance: z
    .strictObject({
      ...issuanceMembers,
      closedThroughBlock: decimal.describe('Last work block that was minted for'),
      processedThroughRound: decimal.describe('Last round that a checkpoint has minted for'),
      lastActivationRound: decimal.describe('Last round whose changes of weight count'),
      supplyCapBaseUnits: decimal.optional().describe('Most that will ever be minted, in base units'),
      paidBaseUnits: decimal.optional().describe('What owners have claimed, in base units'),
    })
    .describe('What was issued; settled work that no checkpoint has reached is not in it'),
  livePositionCount: decimal.optional().describe('Tokens of the collection that exist'),
  collection: collection.optional().describe('The sale of tokens of the collection'),
});

export const minerStateResponse = defineVariants(2, {
  ...members,
  issuance: z
    .strictObject({
      ...issuanceMembers,
      mintedThroughBlock: decimal.describe('Last work block that was minted for'),
      mintedThroughRound: decimal.describe('Last round that a checkpoint has minted for'),
      lastAppliedRound: decimal.describe('Last round whose changes of weight count'),
    })
    .describe('What was issued; settled work that no checkpoint has reached is not in it'),
  collection: collection.optional().describe('The sale of tokens of the collection'),
}).meta({ id: 'MinerState', description: 'Issuance and collection state of the public route' });

/** The contract lists two more reasons for this route; today their conditions are told as `indexer_unavailable`. */
const plainUnavailable = defineUnavailableWithRelease(1).extend({
  reason: z
    .enum([...chainUnavailableReasons, 'unsupported_contract_version', 'projection_rebuilding'])
    .describe(
      'Why nothing is shown. `unsupported_contract_version` and `projection_rebuilding` are told as `indexer_unavailable` today',
    ),
});
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
