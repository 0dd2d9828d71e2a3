import { z } from 'zod';
import {
  type ChainUnavailable,
  collectionPhases,
  type IssuanceView,
} from '../../actors/views/chainViewTypes.ts';
import {
  asset,
  availableMembers,
  defineUnavailableWithRelease,
  toAvailableMembers,
  toUnavailableBodyWithRelease,
} from './chain.ts';
import { toIsoStringOrNull } from './isoTime.ts';
import { decimal, timestamp } from './scalars.ts';

const collection = z
  .strictObject({
    phase: z.enum(collectionPhases),
    paused: z.boolean(),
    publicMinted: decimal,
    publicAllocation: decimal,
    reserveMinted: decimal,
    protocolReserve: decimal,
    publicPriceBaseUnits: decimal.meta({ description: 'Price of a mint in the chain’s native coin' }),
    allowlistStart: timestamp.nullable(),
    allowlistEnd: timestamp.nullable(),
  })
  .meta({ id: 'CollectionState', description: 'The sale, its phase at the time of the safe block' });

const members = {
  ...availableMembers,
  asset,
};

const issuanceMembers = {
  mintedBaseUnits: decimal,
  tokenSupplyBaseUnits: decimal,
  unmintedCapacityBaseUnits: decimal,
};

const publicAvailable = z.strictObject({
  schemaVersion: z.literal(2),
  ...members,
  issuance: z.strictObject({
    ...issuanceMembers,
    mintedThroughBlock: decimal,
    mintedThroughRound: decimal,
    lastAppliedRound: decimal,
  }),
  collection: collection.optional(),
});

const plainAvailable = z.strictObject({
  schemaVersion: z.literal(1),
  ...members,
  issuance: z.strictObject({
    ...issuanceMembers,
    closedThroughBlock: decimal,
    processedThroughRound: decimal,
    lastActivationRound: decimal,
    supplyCapBaseUnits: decimal.optional(),
    paidBaseUnits: decimal.optional(),
  }),
  livePositionCount: decimal.optional(),
  collection: collection.optional(),
});

export const minerStateResponse = z
  .discriminatedUnion('status', [publicAvailable, defineUnavailableWithRelease(2)])
  .meta({ id: 'MinerState', description: 'Issuance and collection state of the public route' });
export const miningStateResponse = z
  .discriminatedUnion('status', [plainAvailable, defineUnavailableWithRelease(1)])
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
