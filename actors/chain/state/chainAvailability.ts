import { zeroAddress, zeroHash } from '../../schemas/hex.ts';
import type { ContractAddresses } from '../spans/chainEvent.ts';
import type { ChainState } from './chainState.ts';

export type ChainAvailability =
  | 'available'
  | 'indexer_disabled'
  | 'indexer_mismatch'
  | 'projection_rebuilding'
  | 'projection_failed'
  | 'indexer_unavailable'
  | 'not_yet_safe'
  | 'unsupported_contract_version';

interface ChainAvailabilityInput {
  /** Whether a deployment with contracts is configured. */
  readonly isConfigured: boolean;
  /** Whether the stream holds only spans of another chain or core, or the mining contract is not the configured one. */
  readonly isMismatched: boolean;
  /** Whether all messages that the stream held at the start are folded. */
  readonly isCaughtUp: boolean;
  /** Whether every safe block could be applied. */
  readonly isApplied: boolean;
  /** Whether there is a span, and neither the newest span nor the safe block is too old. */
  readonly isIndexed: boolean;
  /** Whether the safe block is at or after the deployment block, and the shown contracts are configured there. */
  readonly isSafe: boolean;
  /** Whether this program supports the versions of the implementations behind the proxies. */
  readonly isSupported: boolean;
}

/** `available`, or the first reason why chain views are not. */
export function findChainAvailability(input: ChainAvailabilityInput): ChainAvailability {
  if (!input.isConfigured) return 'indexer_disabled';
  if (input.isMismatched) return 'indexer_mismatch';
  if (!input.isCaughtUp) return 'projection_rebuilding';
  if (!input.isApplied) return 'projection_failed';
  if (!input.isIndexed) return 'indexer_unavailable';
  if (!input.isSafe) return 'not_yet_safe';
  return input.isSupported ? 'available' : 'unsupported_contract_version';
}

/** A check that a safe state fails (CONTRACT.md, Unavailable reasons). */
export type StateFault =
  /** The economy's core, token or collection differs from the deployment's. */
  | 'other_contracts'
  | 'no_implementation'
  | 'no_safe_block_hash'
  /** The amount that the mining contract minted differs from the token's supply. */
  | 'supply_differs'
  /** Weights count for a round that no checkpoint has reached. */
  | 'minting_behind_weights';

/** Faults of the contracts themselves; the others concern their values. */
export const identityFaults: ReadonlySet<string> = new Set<StateFault>([
  'other_contracts',
  'no_implementation',
]);

/** Implementation versions with the events and arithmetic of this program. */
const supportedVersions: ReadonlySet<bigint> = new Set([1n, 2n]);

export function isSupported(implementation: ChainState['mining']['implementation']): boolean {
  return implementation !== null && supportedVersions.has(implementation.codeVersion);
}

/** Why a safe state's economy cannot be shown; null if it can. */
export function findEconomyFault(
  { block, mining: { configuration, implementation } }: ChainState,
  contracts: ContractAddresses,
): StateFault | null {
  const isSameGraph =
    configuration === null ||
    (['core', 'token', 'collection'] as const).every((kind) => configuration[kind] === contracts[kind]);
  if (!isSameGraph) return 'other_contracts';
  const isIdentified =
    implementation === null ||
    (implementation.codeAddress !== zeroAddress && implementation.storageLayoutDigest !== zeroHash);
  if (!isIdentified) return 'no_implementation';
  return block.hash === zeroHash ? 'no_safe_block_hash' : null;
}

/** Why the public routes cannot show the issuance state of an economy that can be shown; null if they can. */
export function findIssuanceFault({ mining, token }: ChainState): StateFault | null {
  if (token !== null && mining.mintedBaseUnits !== token.supplyBaseUnits) return 'supply_differs';
  return mining.processedThroughRound < mining.lastActivationRound ? 'minting_behind_weights' : null;
}
