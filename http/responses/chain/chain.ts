import { z } from 'zod';
import {
  type ChainAvailable,
  type ChainInfo,
  type ChainUnavailable,
  chainTargets,
  chainUnavailableReasons,
  type Identities,
} from '../../../actors/views/chain/chainViewTypes.ts';
import { encodeView } from '../encodeView.ts';
import { toIsoString } from '../isoTime.ts';
import {
  availableStatus,
  bytes32,
  decimal,
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

/** A decimal above zero. */
export const positiveDecimal = decimal.regex(/^[1-9]/).meta({
  id: 'PositiveDecimal',
  description: 'Unsigned base-10 integer above zero',
  format: 'uint256-decimal',
});

/** The reward token (CONTRACT.md, Shared objects). */
export const tokenSymbol = z
  .string()
  .regex(/^[A-Z0-9]{1,16}$/)
  .meta({ id: 'TokenSymbol', description: 'Ticker of the reward token' });
export const tokenDecimals = z.int().min(0).max(255);
export const asset = z
  .strictObject({
    address: address.describe('Address of the token contract'),
    symbol: tokenSymbol.describe('Ticker of the token'),
    decimals: tokenDecimals.describe(
      'Decimals of the token: an amount of one token is ten to this power in base units',
    ),
  })
  .meta({ id: 'Asset' });

/** Blocks between the safe one and the last indexed one, so that it has 12 confirmations. */
const confirmedBy = 11n;

const chainMembers = {
  target: z.enum(chainTargets).describe('Which kind of chain it is'),
  chainId: decimal.describe('ID of the chain (EIP-155)'),
  confirmations: z.literal('12').describe('Blocks that confirm the safe block, itself counted'),
  deploymentBlock: decimal.describe('Block of the chain in which the core was deployed'),
  indexedThroughBlock: decimal.describe('Newest block of the chain that is indexed'),
  safeThroughBlock: decimal.describe(
    'Safe block, at which this view was read: whether the view has moved is seen here, not at `generatedAt`',
  ),
};

/** For rules between members, which zod also checks when a member is not a decimal: such a member is below every decimal. */
export function parseBigint(text: string): bigint {
  return /^[0-9]+$/.test(text) ? BigInt(text) : -1n;
}

function isConfirmed(info: { readonly indexedThroughBlock: string; readonly safeThroughBlock: string }) {
  return parseBigint(info.indexedThroughBlock) - parseBigint(info.safeThroughBlock) >= confirmedBy;
}

/** Of core state and settlement history. */
export const chainBrief = z.strictObject(chainMembers).refine(isConfirmed).meta({ id: 'ChainBrief' });

const chain = z
  .strictObject({
    ...chainMembers,
    economyDeploymentBlock: decimal.describe(
      'Block of the chain in which the contracts of reward and collection were deployed',
    ),
    safeBlockHash: bytes32.describe('Hash of the safe block'),
    safeBlockTimestamp: timestamp.describe('Time of the safe block'),
  })
  .refine(isConfirmed)
  .meta({ id: 'Chain' });

const release = z
  .strictObject({
    id: versionId.describe('Names the release of the contracts'),
    protocolRevision: revisionName.describe('Revision of the protocol'),
    rewardModelRevision: revisionName.describe('Revision of the reward model'),
  })
  .meta({ id: 'Release' });

const identities = z
  .strictObject({
    core: address.describe('Contract that records settlements'),
    tokenFactory: address.describe('Contract that created the reward token'),
    mining: address.describe('Contract that mints and pays rewards'),
    token: address.describe('Contract of the reward token'),
    collection: address.describe('Contract of the NFTs'),
    miningImplementation: address.describe('Code behind the mining contract’s proxy'),
    miningImplementationVersion: decimal.describe('Version that this code says it has'),
    miningStorageLayoutDigest: bytes32.describe('Digest of its storage layout'),
  })
  .meta({ id: 'Identities' });

const reasonMembers = {
  status: unavailableStatus,
  reason: z
    .enum(chainUnavailableReasons)
    .describe(
      'Why nothing is shown: contracts are not configured, what is deployed is not safe yet, the indexer is behind or has failed, or the stream is of other contracts',
    ),
};

/** The unavailable variant of a route of one schema version; those of the economy name the release. */
export function defineUnavailable<Version extends number>(version: Version) {
  return z.strictObject({
    schemaVersion: schemaVersion(version),
    installationId: installationId.describe('The public installation'),
    ...reasonMembers,
  });
}

export function defineUnavailableWithRelease<Version extends number>(version: Version) {
  return defineUnavailable(version).extend({
    release: release.nullable().describe('The configured release; null without one'),
  });
}

/** What every available view of the economy begins with. */
export const availableMembers = {
  installationId: installationId.describe('The public installation'),
  status: availableStatus,
  generatedAt,
  release: release.describe('Which release of the contracts this view is of'),
  chain: chain.describe('Which chain, and how far it is read'),
  identities: identities.describe('The contracts that this view was read from'),
};

export const eventSourceMembers = {
  blockNumber: decimal.describe('Number of the block of the chain that holds the event'),
  blockHash: bytes32.describe('Hash of that block'),
  blockTimestamp: timestamp.describe('Time of that block'),
  transactionHash: bytes32.describe('Hash of the transaction'),
  transactionIndex: z.int().min(0).describe('Place of the transaction in its block, from 0'),
  logIndex: z.int().min(0).describe('Place of the event’s log in its block, from 0'),
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

/** What {@link availableMembers} show. */
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

/** The variants of a route of the economy, of one schema version. */
export function defineVariants<Version extends number, Members extends z.ZodRawShape>(
  version: Version,
  members: Members,
) {
  return z.discriminatedUnion('status', [
    z.strictObject({ schemaVersion: schemaVersion(version), ...availableMembers, ...members }),
    defineUnavailableWithRelease(version),
  ]);
}

export function toUnavailableBody<Version extends number>(
  version: Version,
  { installationId: id, reason }: ChainUnavailable,
) {
  return { schemaVersion: version, installationId: id, status: 'unavailable' as const, reason };
}

/**
 * The body of a route of the economy, of one schema version.
 *
 * @param toMembers the members that are its own, where the view is available.
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
