import { z } from 'zod';
import {
  type ChainUnavailable,
  chainUnavailableReasons,
  collectionPhases,
  type IssuanceView,
} from '../../actors/views/chain/chainViewTypes.ts';
import {
  asset,
  availableMembers,
  defineUnavailableWithRelease,
  toAvailableMembers,
  toUnavailableBodyWithRelease,
} from './chain.ts';
import { toIsoStringOrNull } from './isoTime.ts';
import { decimal, schemaVersion, timestamp } from './scalars.ts';

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
  ...availableMembers,
  asset: asset.describe('The reward token'),
};

const issuanceMembers = {
  mintedBaseUnits: decimal.describe('All reward token that checkpoints minted, in base units'),
  tokenSupplyBaseUnits: decimal.describe('What the token says exists, in base units'),
  unmintedCapacityBaseUnits: decimal.describe('What the cap leaves, in base units'),
};

const publicAvailable = z.strictObject({
  schemaVersion: schemaVersion(2),
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
});

const plainAvailable = z.strictObject({
  schemaVersion: schemaVersion(1),
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

export const minerStateResponse = z
  .discriminatedUnion('status', [publicAvailable, defineUnavailableWithRelease(2)])
  .meta({ id: 'MinerState', description: 'Issuance and collection state of the public route' });
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
  if (view.status === 'unavailable') return toUnavailableBodyWithRelease(2, view);
  return {
    schemaVersion: 2,
    ...toMembersBody(view),
    issuance: {
      ...toIssuanceBody(view),
      mintedThroughBlock: view.closedThroughBlock.toString(),
      mintedThroughRound: view.processedThroughRound.toString(),
      lastAppliedRound: view.lastActivationRound.toString(),
    },
    collection: toCollectionBody(view),
  };
}

export function toMiningStateBody(
  view: IssuanceView | ChainUnavailable,
): z.infer<typeof miningStateResponse> {
  if (view.status === 'unavailable') return toUnavailableBodyWithRelease(1, view);
  return {
    schemaVersion: 1,
    ...toMembersBody(view),
    issuance: {
      ...toIssuanceBody(view),
      closedThroughBlock: view.closedThroughBlock.toString(),
      processedThroughRound: view.processedThroughRound.toString(),
      lastActivationRound: view.lastActivationRound.toString(),
      supplyCapBaseUnits: view.supplyCap.toString(),
      paidBaseUnits: view.paidBaseUnits.toString(),
    },
    livePositionCount: view.livePositionCount.toString(),
    collection: toCollectionBody(view),
  };
}

function toMembersBody(view: IssuanceView) {
  return {
    ...toAvailableMembers(view),
    asset: { ...view.asset },
  };
}

function toIssuanceBody({ mintedBaseUnits, tokenSupplyBaseUnits, supplyCap }: IssuanceView) {
  return {
    mintedBaseUnits: mintedBaseUnits.toString(),
    tokenSupplyBaseUnits: tokenSupplyBaseUnits.toString(),
    unmintedCapacityBaseUnits: (supplyCap - mintedBaseUnits).toString(),
  };
}

function toCollectionBody({ collection: { sale, ...state } }: IssuanceView): z.infer<typeof collection> {
  return {
    phase: state.phase,
    paused: state.paused,
    publicMinted: state.publicMinted.toString(),
    publicAllocation: (sale?.publicAllocation ?? 0n).toString(),
    reserveMinted: state.reserveMinted.toString(),
    protocolReserve: (sale?.protocolReserve ?? 0n).toString(),
    publicPriceBaseUnits: (sale?.publicPrice ?? 0n).toString(),
    allowlistStart: toIsoStringOrNull(sale === null ? null : Number(sale.allowlistStart) * 1000),
    allowlistEnd: toIsoStringOrNull(sale === null ? null : Number(sale.allowlistEnd) * 1000),
  };
}
