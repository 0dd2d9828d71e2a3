import { zeroAddress, zeroHash } from '../../schemas/zero.ts';
import type { ContractAddresses } from '../spans/chainEvent.ts';
import type { ChainState } from './chainState.ts';

/** What a safe state can fail, in the order in which it is tested (CONTRACT.md, Unavailable reasons). */
const stateFaults = [
  /** The economy names another core, token or collection than the deployment does. */
  'other_contracts',
  'no_implementation',
  'no_safe_block_hash',
  /** What the mining contract minted is not the supply of the token. */
  'supply_differs',
  /** Weights of a round count that no checkpoint has reached. */
  'minting_behind_weights',
] as const;
export type StateFault = (typeof stateFaults)[number];

/** Faults of what the state is read from; the others are of what was read. */
export const identityFaults: ReadonlySet<string> = new Set<StateFault>([
  'other_contracts',
  'no_implementation',
]);

/** Implementation versions whose events and arithmetic are those of this program. */
const supportedVersions: ReadonlySet<bigint> = new Set([1n, 2n]);

export function isSupported(implementation: ChainState['mining']['implementation']): boolean {
  return implementation !== null && supportedVersions.has(implementation.codeVersion);
}

/** Why nothing of the economy can be shown at a safe state; null when it can. */
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

/** Why the issuance state of the public routes cannot be shown although the economy can; null when it can. */
export function findIssuanceFault({ mining, token }: ChainState): StateFault | null {
  if (token !== null && mining.mintedBaseUnits !== token.supplyBaseUnits) return 'supply_differs';
  return mining.processedThroughRound < mining.lastActivationRound ? 'minting_behind_weights' : null;
}
