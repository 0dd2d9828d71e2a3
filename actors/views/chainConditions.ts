import { type ChainAvailability, findChainAvailability } from '../chain/chainAvailability.ts';
import { findEconomyFault, findIssuanceFault } from '../chain/stateChecks.ts';
import type { FollowedDeployment } from './chainDeployment.ts';
import type { ChainCondition } from './chainViewTypes.ts';
import type { Clock } from './clock.ts';

/** Implementation versions whose events and arithmetic are those of this program. */
const supportedVersions: ReadonlySet<bigint> = new Set([1n, 2n]);

export interface ChainConditionsOptions {
  /** Null when no contracts are configured. */
  readonly onChain: FollowedDeployment | null;
  /** Whether all messages that the stream had at the start are folded. */
  readonly isCaughtUp: () => boolean;
  /** Once the newest span is older than this, the indexer counts as unavailable. */
  readonly staleAfterMs: number;
  readonly clock: Clock;
}

/** Whether the views of a chain can be shown at this moment, and why not. */
export interface ConditionsNow {
  /** Of the views that need the core alone. */
  core(): ChainAvailability;
  /** Of those of the economy. */
  economy(): ChainCondition;
  checkedIssuance(): ChainCondition;
}

export function createChainConditions(options: ChainConditionsOptions): ConditionsNow {
  const { onChain, clock } = options;
  const newest = () => onChain?.actors.newest() ?? null;

  function findAvailability(needsEconomy: boolean): ChainAvailability {
    const state = newest();
    const spanAtMs = onChain?.actors.newestSpanAtMs ?? null;
    const { core, mining } = state ?? { core: null, mining: null };
    const firstBlock = needsEconomy
      ? onChain?.deployment.chain.economyDeploymentBlock
      : onChain?.deployment.chain.deploymentBlock;
    const isConfigured = core?.configuration != null && (!needsEconomy || mining?.configuration != null);
    const versions = [core?.implementation, needsEconomy ? mining?.implementation : core?.implementation];
    return findChainAvailability({
      isConfigured: onChain !== null,
      isMismatched: onChain?.actors.state.isMismatched ?? false,
      isCaughtUp: options.isCaughtUp(),
      isApplied: onChain?.actors.fault == null,
      isIndexed: spanAtMs !== null && clock.nowMs() - spanAtMs <= options.staleAfterMs,
      isSafe: state !== null && state.block.number >= (firstBlock ?? 0n) && isConfigured,
      isSupported: versions.every((one) => one != null && supportedVersions.has(one.codeVersion)),
    });
  }

  function economy(): ChainCondition {
    const condition = findAvailability(true);
    const state = newest();
    if (condition !== 'available' || onChain === null || state === null) return condition;
    return findEconomyFault(state, onChain.deployment.contracts) ?? condition;
  }

  return {
    core: () => findAvailability(false),
    economy,
    checkedIssuance: () => {
      const condition = economy();
      const state = newest();
      return condition !== 'available' || state === null
        ? condition
        : (findIssuanceFault(state) ?? condition);
    },
  };
}
