import {
  type ChainAvailability,
  findChainAvailability,
  findEconomyFault,
  findIssuanceFault,
  isSupported,
  type StateFault,
} from '../../chain/state/chainAvailability.ts';
import type { ChainState } from '../../chain/state/chainState.ts';
import type { Clock } from '../../clock.ts';
import type { FollowedDeployment } from './chainDeployment.ts';

/** Condition of views in full detail, for operators. Bodies carry fewer reasons. */
export type ChainCondition = ChainAvailability | StateFault;

export interface ChainConditionsOptions {
  /** Null when no contracts are configured. */
  readonly onChain: FollowedDeployment | null;
  /** Whether all messages that the stream had at the start are folded. */
  readonly isCaughtUp: () => boolean;
  /** Once the newest span is older than this, the indexer counts as unavailable. */
  readonly staleAfterMs: number;
  /** Once the safe block is further behind the clock than this, the indexer counts as unavailable. */
  readonly behindAfterMs: number;
  readonly clock: Clock;
}

/** Conditions of the chain's views at this moment. */
export type ConditionsNow = ReturnType<typeof createChainConditions>;

/** @param acceptsOld whether a state may be shown that is too old, is being folded again, or whose next block could not be applied. */
export function createChainConditions(options: ChainConditionsOptions, { acceptsOld = false } = {}) {
  const { onChain, clock } = options;
  const newest = () => onChain?.actors.newest() ?? null;

  function checkState(state: ChainState | null, needsEconomy: boolean) {
    const { core, mining } = state ?? { core: null, mining: null };
    const firstBlock = needsEconomy
      ? onChain?.deployment.chain.economyDeploymentBlock
      : onChain?.deployment.chain.deploymentBlock;
    const isConfigured = core?.configuration != null && (!needsEconomy || mining?.configuration != null);
    const implementations = [core?.implementation, ...(needsEconomy ? [mining?.implementation] : [])];
    return {
      isSafe: state !== null && state.block.number >= (firstBlock ?? 0n) && isConfigured,
      isSupported: implementations.every((one) => isSupported(one ?? null)),
    };
  }

  /** Whether the configured mining contract is wrong: it was never configured on the chain, and another contract's events caused a fault. */
  function hasOtherMining({ actors, deployment }: FollowedDeployment): boolean {
    const state = actors.newest();
    const isConfigured = state === null || state.mining.configuration !== null;
    const economyBlock = deployment.chain.economyDeploymentBlock ?? 0n;
    return actors.fault != null && !isConfigured && state.block.number >= economyBlock;
  }

  function findAvailability(needsEconomy: boolean): ChainAvailability {
    const state = newest();
    const nowMs = clock.nowMs();
    const spanAtMs = onChain?.actors.newestSpanAtMs ?? null;
    const isBehind = state !== null && nowMs - state.block.timestampMs > options.behindAfterMs;
    return findChainAvailability({
      isConfigured: onChain !== null,
      isMismatched: onChain !== null && (onChain.actors.state.isMismatched || hasOtherMining(onChain)),
      isCaughtUp: acceptsOld || options.isCaughtUp(),
      isApplied: acceptsOld || onChain?.actors.fault == null,
      isIndexed: acceptsOld || (spanAtMs !== null && nowMs - spanAtMs <= options.staleAfterMs && !isBehind),
      ...checkState(state, needsEconomy),
    });
  }

  function economy(): ChainCondition {
    const condition = findAvailability(true);
    const state = newest();
    if (condition !== 'available' || onChain === null || state === null) return condition;
    return findEconomyFault(state, onChain.deployment.contracts) ?? condition;
  }

  return {
    /** Whether the newest safe state passes every check of the core, however old it is. */
    isGood: () => Object.values(checkState(newest(), false)).every(Boolean),
    /** Condition of the views that need only the core. */
    core: () => findAvailability(false),
    /** Condition of the views that also need the economy. */
    economy,
    checkedIssuance: (): ChainCondition => {
      const condition = economy();
      const state = newest();
      return condition !== 'available' || state === null
        ? condition
        : (findIssuanceFault(state) ?? condition);
    },
  };
}
