import { z } from 'zod';
import {
  type ChainInfo,
  type ChainUnavailable,
  chainTargets,
  chainUnavailableReasons,
  type EventSource,
  type Identities,
  type Release,
} from '../../actors/chain/chainViewTypes.ts';
import { decimal, installationId, isoOf, timestamp } from './scalars.ts';

/** Shared objects of the chain's views (document 1, "Shared objects"). */

export const bytes32 = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/)
  .meta({ id: 'Bytes32' });

export const address = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/)
  .meta({ id: 'Address', description: 'Lower case' });

const chainMembers = {
  target: z.enum(chainTargets),
  chainId: decimal,
  confirmations: z.literal('12'),
  deploymentBlock: decimal,
  indexedThroughBlock: decimal,
  safeThroughBlock: decimal,
};

/** Of [B] core and settlement history. */
export const chainBrief = z.strictObject(chainMembers).meta({ id: 'ChainBrief' });

export const chain = z
  .strictObject({
    ...chainMembers,
    economyDeploymentBlock: decimal,
    safeBlockHash: bytes32,
    safeBlockTimestamp: timestamp,
  })
  .meta({ id: 'Chain' });

export const release = z
  .strictObject({
    id: z.string().regex(/^[a-z0-9][a-z0-9._-]{2,127}$/),
    protocolRevision: z.string().regex(/^[a-z0-9][a-z0-9.-]{2,63}$/),
    rewardModelRevision: z.string().regex(/^[a-z0-9][a-z0-9.-]{2,63}$/),
  })
  .meta({ id: 'Release' });

export const identities = z
  .strictObject({
    core: address,
    tokenFactory: address,
    mining: address,
    token: address,
    collection: address,
    miningImplementation: address,
    miningImplementationVersion: decimal,
    miningStorageLayoutDigest: bytes32,
  })
  .meta({ id: 'Identities' });

const reasonMembers = { status: z.literal('unavailable'), reason: z.enum(chainUnavailableReasons) };

/** The unavailable variant of a route of one schema version; those of set A name the release. */
export function unavailableOf<Version extends number>(schemaVersion: Version) {
  return z.strictObject({ schemaVersion: z.literal(schemaVersion), installationId, ...reasonMembers });
}

export function unavailableWithRelease<Version extends number>(schemaVersion: Version) {
  return unavailableOf(schemaVersion).extend({ release: release.nullable() });
}

/** What every available view of the economy begins with. */
export const availableMembers = {
  installationId,
  status: z.literal('available'),
  generatedAt: timestamp,
  release,
  chain,
  identities,
};

export const eventSourceMembers = {
  blockNumber: decimal,
  blockHash: bytes32,
  blockTimestamp: timestamp,
  transactionHash: bytes32,
  transactionIndex: z.int().min(0),
  logIndex: z.int().min(0),
};

export function chainBriefBody(info: ChainInfo): z.infer<typeof chainBrief> {
  return {
    target: info.target,
    chainId: info.chainId.toString(),
    confirmations: '12',
    deploymentBlock: info.deploymentBlock.toString(),
    indexedThroughBlock: info.indexedThroughBlock.toString(),
    safeThroughBlock: info.safeThroughBlock.toString(),
  };
}

export function chainBody(info: ChainInfo): z.infer<typeof chain> {
  return {
    ...chainBriefBody(info),
    economyDeploymentBlock: info.economyDeploymentBlock.toString(),
    safeBlockHash: info.safeBlockHash,
    safeBlockTimestamp: isoOf(info.safeBlockTimestampMs),
  };
}

export function releaseBody({ id, protocolRevision, rewardModelRevision }: Release): z.infer<typeof release> {
  return { id, protocolRevision, rewardModelRevision };
}

export function identitiesBody(given: Identities): z.infer<typeof identities> {
  return { ...given, miningImplementationVersion: given.miningImplementationVersion.toString() };
}

/** The values of {@link availableMembers}. */
export function availableMembersBody(view: {
  readonly installationId: string;
  readonly generatedAtMs: number;
  readonly release: Release;
  readonly chain: ChainInfo;
  readonly identities: Identities;
}) {
  return {
    installationId: view.installationId,
    status: 'available' as const,
    generatedAt: isoOf(view.generatedAtMs),
    release: releaseBody(view.release),
    chain: chainBody(view.chain),
    identities: identitiesBody(view.identities),
  };
}

export function unavailableBody<Version extends number>(
  schemaVersion: Version,
  { installationId: id, reason }: ChainUnavailable,
) {
  return { schemaVersion, installationId: id, status: 'unavailable' as const, reason };
}

export function unavailableBodyWithRelease<Version extends number>(
  schemaVersion: Version,
  view: ChainUnavailable,
) {
  const given = view.release === null ? null : releaseBody(view.release);
  return { ...unavailableBody(schemaVersion, view), release: given };
}

export function eventSourceBody(source: EventSource) {
  return {
    blockNumber: source.blockNumber.toString(),
    blockHash: source.blockHash,
    blockTimestamp: isoOf(source.blockTimestampMs),
    transactionHash: source.transactionHash,
    transactionIndex: source.transactionIndex,
    logIndex: source.logIndex,
  };
}
