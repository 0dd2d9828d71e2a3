import type { Economy } from './mining.ts';
import type { CoreState } from './readCore.ts';
import type { IndexedChain, SafeChain } from './safeChain.ts';

/** Whether the chain is available. The reason is no quantity. */

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

export interface AvailableCore {
  readonly safe: SafeChain;
  readonly core: CoreState;
  /** Null before its contracts are safe. */
  readonly economy: Economy | null;
  /** Whether the state may be older than the chain, because the indexer is behind or silent. */
  readonly isLate: boolean;
}

const isSupported = (version: bigint) => version === 1n || version === 2n;

/** The core at the safe block; null while it is unavailable. */
export function findAvailable(chain: ReadChain | null, nowMs: number): AvailableCore | null {
  if (chain === null || chain.safe === null || chain.core === null) return null;
  const { indexed, safe, core } = chain;
  if (indexed.isOfOther && !indexed.isOfDeployment) return null;
  if (!isSupported(core.version)) return null;
  const isDeployed = safe.block.number >= safe.deployment.chain.economyDeploymentBlock;
  const isLate = nowMs - indexed.newestSpanAtMs > staleMs || nowMs - safe.block.timestampMs > behindMs;
  return { safe, core, economy: isDeployed ? chain.economy : null, isLate };
}

/** Whether the economy can be shown. */
export const hasEconomy = (found: AvailableCore | null): found is AvailableCore & { economy: Economy } =>
  found !== null && !found.isLate && found.economy !== null && isSupported(found.economy.version);
