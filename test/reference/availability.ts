import { type IndexedChain, listEvents, type SafeChain } from './chain.ts';
import { type CoreState, readVersion } from './core.ts';
import type { Economy } from './mining.ts';

/** CONTRACT.md, Unavailable reasons. */

export type Reason = 'indexer_disabled' | 'indexer_mismatch' | 'indexer_unavailable' | 'not_yet_safe';
/** Several conditions share one reason in bodies. */
type Condition = Reason | 'unsupported_contract_version';

export const findReason = (...of: Parameters<typeof findCondition>): Reason | null => {
  const condition = findCondition(...of);
  return condition === 'unsupported_contract_version' ? 'indexer_unavailable' : condition;
};

const staleMs = 120_000;
/** Longest lag of the safe block behind the clock. Beyond it, a state is too old to be shown. */
const behindMs = 15 * 60_000;

/** The chain of a deployment as the stream has it, with its safe state. */
export interface ReadChain {
  readonly indexed: IndexedChain;
  /** Null while no block is safe. */
  readonly safe: SafeChain | null;
  /** Null before the core is configured. */
  readonly core: CoreState | null;
  /** Null before its contracts are configured. */
  readonly economy: Economy | null;
}

/** Why the core or the economy is unavailable; null if it is available. */
export function findCondition(
  part: 'core' | 'economy',
  chain: ReadChain | null,
  nowMs: number,
): Condition | null {
  if (chain === null) return 'indexer_disabled';
  const { indexed, safe, core } = chain;
  if (indexed.isOfOther && !indexed.isOfDeployment) return 'indexer_mismatch';
  if (indexed.indexedThrough === null || nowMs - indexed.newestSpanAtMs > staleMs)
    return 'indexer_unavailable';
  if (safe === null || core === null) return 'not_yet_safe';
  if (nowMs - safe.block.timestampMs > behindMs) return 'indexer_unavailable';
  if (!isSupported(safe, 'core')) return 'unsupported_contract_version';
  return part === 'core' ? null : findEconomyCondition(safe);
}

const isSupported = (safe: SafeChain, contract: 'core' | 'mining') =>
  [1n, 2n].includes(readVersion(safe, contract)?.version ?? 0n);

function findEconomyCondition(safe: SafeChain): Condition | null {
  const { chain, contracts } = safe.deployment;
  const configured = listEvents<Record<'core' | 'token' | 'collection', string>>(
    safe,
    'mining',
    'MiningConfigured',
  ).at(-1)?.args;
  const isCreated = listEvents(safe, 'tokenFactory', 'TokenCreated').length > 0;
  if (safe.block.number < chain.economyDeploymentBlock || configured === undefined || !isCreated)
    return 'not_yet_safe';
  if (!isSupported(safe, 'mining')) return 'unsupported_contract_version';
  const isOfContracts =
    configured.core === contracts.core &&
    configured.token === contracts.token &&
    configured.collection === contracts.collection;
  if (!isOfContracts) return 'indexer_mismatch';
  const version = readVersion(safe, 'mining');
  const isZero = (hex: string) => BigInt(hex) === 0n;
  if (version === null || isZero(version.implementation) || isZero(version.storageLayoutDigest))
    return 'indexer_mismatch';
  return isZero(safe.block.hash) ? 'indexer_unavailable' : null;
}
