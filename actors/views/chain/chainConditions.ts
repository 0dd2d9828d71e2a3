import { memoizeByIdentity } from '../../caching/memoizeByIdentity.ts';
import {
  type ChainAvailability,
  findEconomyFault,
  findIssuanceFault,
  isSupported,
  type StateFault,
} from '../../chain/state/chainAvailability.ts';
import type { ChainState } from '../../chain/state/chainState.ts';
import type { Clock } from '../../clock.ts';
import { roundSeconds } from '../../wheel/roundFold.ts';
import type { FollowedDeployment } from './chainDeployment.ts';

/** Condition of views in full detail, for operators. Bodies carry fewer reasons. */
export type ChainCondition = ChainAvailability | StateFault;

export interface ChainConditionsOptions {
  /** Null when no contracts are configured. */
  readonly onChain: FollowedDeployment | null;
  /** Start of round 1 (epoch milliseconds). */
  readonly genesisMs: number;
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

  /** Returns the check whether the chain's own parts of a state can be shown. It is remembered per state, since every polled request asks for it. */
  const createCheck = (needsEconomy: boolean) =>
    memoizeByIdentity(({ block, core, mining }: ChainState): ChainAvailability => {
      const needed = needsEconomy ? [core, mining] : [core];
      const firstBlock =
        onChain?.deployment.chain[needsEconomy ? 'economyDeploymentBlock' : 'deploymentBlock'];
      const isSafe = block.number >= (firstBlock ?? 0n) && needed.every((one) => one.configuration !== null);
      if (!isSafe) return 'not_yet_safe';
      return needed.every(({ implementation }) => isSupported(implementation))
        ? 'available'
        : 'unsupported_contract_version';
    });
  const [checkCore, checkEconomy] = [createCheck(false), createCheck(true)];

  /** Whether the configured mining contract is wrong: it was never configured on the chain, and another contract's events caused a fault. */
  function hasOtherMining({ actors, deployment }: FollowedDeployment): boolean {
    if (actors.fault == null) return false;
    const state = actors.newest();
    const economyBlock = deployment.chain.economyDeploymentBlock ?? 0n;
    return state !== null && state.mining.configuration === null && state.block.number >= economyBlock;
  }

  /** Whether the rounds of the core are other ones than those of the readings. */
  function hasOtherRounds({ actors }: FollowedDeployment): boolean {
    const configuration = actors.newest()?.core.configuration ?? null;
    if (configuration === null) return false;
    const { genesisTimestamp, roundDuration } = configuration;
    return genesisTimestamp * 1000n !== BigInt(options.genesisMs) || roundDuration !== BigInt(roundSeconds);
  }

  /** Whether there is a span, and neither the newest span nor the safe block is too old. */
  function isIndexed({ actors }: FollowedDeployment): boolean {
    const [spanAtMs, state, nowMs] = [actors.newestSpanAtMs, actors.newest(), clock.nowMs()];
    const isBehind = state !== null && nowMs - state.block.timestampMs > options.behindAfterMs;
    return spanAtMs !== null && nowMs - spanAtMs <= options.staleAfterMs && !isBehind;
  }

  function findAvailability(check: typeof checkCore): ChainAvailability {
    if (onChain === null) return 'indexer_disabled';
    const { actors } = onChain;
    if (actors.state.isMismatched || hasOtherMining(onChain) || hasOtherRounds(onChain))
      return 'indexer_mismatch';
    if (!acceptsOld) {
      if (!options.isCaughtUp()) return 'projection_rebuilding';
      if (actors.fault !== null) return 'projection_failed';
      if (!isIndexed(onChain)) return 'indexer_unavailable';
    }
    const state = actors.newest();
    return state === null ? 'not_yet_safe' : check(state);
  }

  function economy(): ChainCondition {
    const condition = findAvailability(checkEconomy);
    const state = newest();
    if (condition !== 'available' || onChain === null || state === null) return condition;
    return findEconomyFault(state, onChain.deployment.contracts) ?? condition;
  }

  return {
    /** Whether the newest safe state passes every check of the core, however old it is. */
    isGood: () => {
      const state = newest();
      return state !== null && checkCore(state) === 'available';
    },
    /** Condition of the views that need only the core. */
    core: () => findAvailability(checkCore),
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
