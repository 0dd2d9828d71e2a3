import { z } from 'zod';
import {
  type ChainUnavailable,
  collectionPhases,
  type IssuanceView,
} from '../../actors/views/chainViewTypes.ts';
import {
  asset,
  availableMembers,
  availableMembersBody,
  defineUnavailableWithRelease,
  unavailableBodyWithRelease,
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

const availableA = z.strictObject({
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

const availableB = z.strictObject({
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
  .discriminatedUnion('status', [availableA, defineUnavailableWithRelease(2)])
  .meta({ id: 'MinerState', description: 'Issuance and collection state [A]' });
export const miningStateResponse = z
  .discriminatedUnion('status', [availableB, defineUnavailableWithRelease(1)])
  .meta({ id: 'MiningState', description: 'Issuance and collection state [B]' });

export function minerStateBody(view: IssuanceView | ChainUnavailable): z.infer<typeof minerStateResponse> {
  if (view.status === 'unavailable') return unavailableBodyWithRelease(2, view);
  return {
    schemaVersion: 2,
    ...membersBody(view),
    issuance: {
      ...issuanceBody(view),
      mintedThroughBlock: view.closedThroughBlock.toString(),
      mintedThroughRound: view.processedThroughRound.toString(),
      lastAppliedRound: view.lastActivationRound.toString(),
    },
    collection: collectionBody(view),
  };
}

export function miningStateBody(view: IssuanceView | ChainUnavailable): z.infer<typeof miningStateResponse> {
  if (view.status === 'unavailable') return unavailableBodyWithRelease(1, view);
  return {
    schemaVersion: 1,
    ...membersBody(view),
    issuance: {
      ...issuanceBody(view),
      closedThroughBlock: view.closedThroughBlock.toString(),
      processedThroughRound: view.processedThroughRound.toString(),
      lastActivationRound: view.lastActivationRound.toString(),
      supplyCapBaseUnits: view.supplyCap.toString(),
      paidBaseUnits: view.paidBaseUnits.toString(),
    },
    livePositionCount: view.livePositionCount.toString(),
    collection: collectionBody(view),
  };
}

function membersBody(view: IssuanceView) {
  return {
    ...availableMembersBody(view),
    asset: { ...view.asset },
  };
}

function issuanceBody({ mintedBaseUnits, tokenSupplyBaseUnits, supplyCap }: IssuanceView) {
  return {
    mintedBaseUnits: mintedBaseUnits.toString(),
    tokenSupplyBaseUnits: tokenSupplyBaseUnits.toString(),
    unmintedCapacityBaseUnits: (supplyCap - mintedBaseUnits).toString(),
  };
}

function collectionBody({ collection: { sale, ...state } }: IssuanceView): z.infer<typeof collection> {
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
