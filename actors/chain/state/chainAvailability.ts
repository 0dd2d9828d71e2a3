import { zeroAddress, zeroHash } from '../../schemas/hex.ts';
import type { ContractAddresses } from '../spans/chainEvent.ts';
import type { ChainState } from './chainState.ts';

/** `available`, or the first reason why chain views are not. */
export type ChainAvailability =
  | 'available'
  | 'indexer_disabled'
  | 'indexer_mismatch'
  | 'projection_rebuilding'
  | 'projection_failed'
  | 'indexer_unavailable'
  | 'not_yet_safe'
  | 'unsupported_contract_version';

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
