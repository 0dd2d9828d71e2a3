import { z } from 'zod';
import { type ChainInfo, chainTargets } from '../../../actors/views/chain/chainDeployment.ts';
import {
  type ChainAvailable,
  type ChainUnavailable,
  chainUnavailableReasons,
  type Identities,
} from '../../../actors/views/chain/shownStates.ts';
import { encodeView, toIsoString } from '../encodeView.ts';
import {
  availableStatus,
  bytes32,
  decimal,
  defineObject,
  generatedAt,
  installationId,
  schemaVersion,
  timestamp,
  unavailableStatus,
} from '../scalars.ts';

/** Shared objects of the chain's views (CONTRACT.md, Shared objects). */

export const address = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/)
  .meta({ id: 'Address', description: 'Lower case' });

export const versionId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{2,127}$/)
  .meta({ id: 'VersionId' });

const revisionName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9.-]{2,63}$/)
  .meta({ id: 'RevisionName' });

/** The reward token (CONTRACT.md, Shared objects). */
export const tokenSymbol = z
  .string()
  .regex(/^[A-Z0-9]{1,16}$/)
  .meta({ id: 'TokenSymbol', description: 'Symbol of a token' });
export const tokenDecimals = z.int().min(0).max(255);
export const asset = defineObject('Asset', {
  address: address.describe('Address of the token contract'),
  symbol: tokenSymbol.describe('Ticker of the token'),
  decimals: tokenDecimals.describe(
    'Decimals of the token: an amount of one token is ten to this power in base units',
  ),
});

/** Indexed blocks above the safe block, which gives it 12 confirmations. */
const confirmedBy = 11n;

const chainTarget = z.enum(chainTargets).meta({ id: 'ChainTarget', description: 'Kind of chain' });

const chainMembers = {
  target: chainTarget,
  chainId: decimal.describe('ID of the chain (EIP-155)'),
  confirmations: z.literal('12').describe('Confirmations of the safe block, including itself'),
  deploymentBlock: decimal.describe('Block in which the core was deployed'),
  indexedThroughBlock: decimal.describe('Newest indexed block'),
  safeThroughBlock: decimal.describe(
    'Safe block, at which this view was read. It tells whether the view has moved; `generatedAt` does not',
  ),
};

/** Parses a member for a rule between members. Zod checks such rules for invalid members too; those count as below every decimal. */
export function parseBigint(text: string): bigint {
  return /^[0-9]+$/.test(text) ? BigInt(text) : -1n;
}

function isConfirmed(info: { readonly indexedThroughBlock: string; readonly safeThroughBlock: string }) {
  return parseBigint(info.indexedThroughBlock) - parseBigint(info.safeThroughBlock) >= confirmedBy;
}

/** `chain` of core state and settlement history. */
export const chainBrief = z.strictObject(chainMembers).refine(isConfirmed).meta({ id: 'ChainBrief' });

const chain = z
  .strictObject({
    ...chainMembers,
    economyDeploymentBlock: decimal.describe(
      'Block in which the reward and collection contracts were deployed',
    ),
    safeBlockHash: bytes32.describe('Hash of the safe block'),
    safeBlockTimestamp: timestamp.describe('Time of the safe block'),
  })
  .refine(isConfirmed)
  .meta({ id: 'Chain' });

const release = defineObject('Release', {
  id: versionId.describe('ID of the contracts’ release'),
  protocolRevision: revisionName.describe('Revision of the protocol'),
  rewardModelRevision: revisionName.describe('Revision of the reward model'),
});

const identities = defineObject('Identities', {
  core: address.describe('Contract that records settlements'),
  tokenFactory: address.describe('Contract that created the reward token'),
  mining: address.describe('Contract that mints and pays rewards'),
  token: address.describe('Contract of the reward token'),
  collection: address.describe('Contract of the NFTs'),
  miningImplementation: address.describe('Implementation behind the mining contract’s proxy'),
  miningImplementationVersion: decimal.describe('Version that the implementation reports'),
  miningStorageLayoutDigest: bytes32.describe('Digest of the implementation’s storage layout'),
});

const reasonMembers = {
  status: unavailableStatus,
  reason: z.enum(chainUnavailableReasons).meta({
    id: 'ChainUnavailableReason',
    description:
      'Why nothing is shown: no contracts are configured, the deployment is not safe yet, the indexer is behind or has failed, or the stream belongs to other contracts',
  }),
};

/** The unavailable variant of a body. */
export function defineUnavailable<Version extends number>(version: Version) {
  return z.strictObject({
    schemaVersion: schemaVersion(version),
    installationId: installationId.describe('The public installation'),
    ...reasonMembers,
  });
}

/** The unavailable variant of a body of the economy, which names the release. */
export function defineUnavailableWithRelease<Version extends number>(version: Version) {
  return defineUnavailable(version).extend({
    release: release.nullable().describe('The configured release; null if none is configured'),
  });
}

/** First members of every available body of the economy. */
export const availableMembers = {
  installationId: installationId.describe('The public installation'),
  status: availableStatus,
  generatedAt,
  release: release.describe('The contracts’ release'),
  chain: chain.describe('The chain, and how far it was read'),
  identities: identities.describe('The contracts from which this view was read'),
};

export const eventSourceMembers = {
  blockNumber: decimal.describe('Number of the event’s block'),
  blockHash: bytes32.describe('Hash of the event’s block'),
  blockTimestamp: timestamp.describe('Time of the event’s block'),
  transactionHash: bytes32.describe('Hash of the event’s transaction'),
  transactionIndex: z.int().min(0).describe('Index of the transaction in its block, from 0'),
  logIndex: z.int().min(0).describe('Index of the event’s log in its block, from 0'),
};

export function toChainBriefBody(info: ChainInfo): z.infer<typeof chainBrief> {
  return {
    target: info.target,
    chainId: info.chainId.toString(),
    confirmations: '12',
    deploymentBlock: info.deploymentBlock.toString(),
    indexedThroughBlock: info.indexedThroughBlock.toString(),
    safeThroughBlock: info.safeThroughBlock.toString(),
  };
}

/** The view behind {@link availableMembers}. */
interface EconomyMembers extends ChainAvailable {
  readonly identities: Identities;
}

export function toAvailableMembers(view: EconomyMembers) {
  return {
    installationId: view.installationId,
    status: view.status,
    generatedAt: toIsoString(view.generatedAtMs),
    release: view.release,
    chain: { ...toChainBriefBody(view.chain), ...encodeView(view.chain) },
    identities: encodeView(view.identities),
  };
}

/** Name and description of a body in the documents. */
export interface BodyMeta {
  readonly id: string;
  readonly description: string;
}

/** The schema of a route of the economy: its available and its unavailable variant. */
export function defineVariants<Version extends number, Members extends z.ZodRawShape>(
  version: Version,
  members: Members,
  { id, description }: BodyMeta,
) {
  return z
    .discriminatedUnion('status', [
      defineObject(`${id}Available`, {
        schemaVersion: schemaVersion(version),
        ...availableMembers,
        ...members,
      }),
      defineUnavailableWithRelease(version).meta({ id: `${id}Unavailable` }),
    ])
    .meta({ id, description });
}

export function toUnavailableBody<Version extends number>(
  version: Version,
  { installationId: id, reason }: ChainUnavailable,
) {
  return { schemaVersion: version, installationId: id, status: 'unavailable' as const, reason };
}

/**
 * Builds the body of a route of the economy.
 *
 * @param toMembers builds the route's own members of an available view.
 */
export function toVariant<Version extends number, View extends EconomyMembers, Members extends object>(
  version: Version,
  view: View | ChainUnavailable,
  toMembers: (view: View) => Members,
) {
  return view.status === 'unavailable'
    ? { ...toUnavailableBody(version, view), release: view.release }
    : { schemaVersion: version, ...toAvailableMembers(view), ...toMembers(view) };
}
