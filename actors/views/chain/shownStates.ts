import { requireValue } from '../../../machines/requireValue.ts';
import { confirmations } from '../../chain/spans/confirmations.ts';
import { identityFaults } from '../../chain/state/chainAvailability.ts';
import type { ChainState } from '../../chain/state/chainState.ts';
import type { Clock } from '../../clock.ts';
import type { ChainCondition, ConditionsNow } from './chainConditions.ts';
import type { ChainDeployment, ChainInfo, FollowedDeployment } from './chainDeployment.ts';

/** Each chain view is read at one safe block. Amounts and block numbers are bigints, times epoch milliseconds. */

/** Reasons that bodies carry (CONTRACT.md, Unavailable reasons). */
export const chainUnavailableReasons = [
  'indexer_disabled',
  'not_yet_safe',
  'indexer_unavailable',
  'indexer_mismatch',
] as const;
type ChainUnavailableReason = (typeof chainUnavailableReasons)[number];

export type ChainUnavailable = ReturnType<ShownStates['unavailable']>;
export type ChainAvailable = ReturnType<ShownStates['describe']>;
/** The contracts of a view (CONTRACT.md, Shared objects). */
export type Identities = ReturnType<typeof listIdentities>;

/** A safe state that may be shown, with its chain and deployment. */
export interface ShownState {
  readonly state: ChainState;
  readonly deployment: ChainDeployment;
  readonly chain: ChainInfo;
}

interface ShownStatesOptions {
  readonly installationId: string;
  /** Null when no contracts are configured. */
  readonly onChain: FollowedDeployment | null;
  readonly conditions: ConditionsNow;
  readonly clock: Clock;
}

export type ShownStates = ReturnType<typeof createShownStates>;

export function createShownStates(options: ShownStatesOptions) {
  const { installationId, onChain, conditions, clock } = options;
  const release = onChain?.deployment.release ?? null;

  function show(state: ChainState): ShownState {
    const { deployment, actors } = requireValue(onChain, 'the deployment of a state');
    const { number, hash, timestampMs } = state.block;
    // While a fork is being published, the head is lower than when the block became safe.
    const head = actors.state.head?.number ?? number;
    const confirmedBy = number + confirmations - 1n;
    const chain = {
      ...deployment.chain,
      indexedThroughBlock: head > confirmedBy ? head : confirmedBy,
      safeThroughBlock: number,
      safeBlockHash: hash,
      safeBlockTimestampMs: timestampMs,
    };
    return { state, deployment, chain };
  }

  function unavailable(condition: Exclude<ChainCondition, 'available'>) {
    return { status: 'unavailable' as const, installationId, reason: findShownReason(condition), release };
  }

  function showNewest(condition: ChainCondition) {
    if (condition !== 'available') return unavailable(condition);
    return show(requireValue(onChain?.actors.newest(), 'the safe state of an available chain'));
  }

  return {
    /** The newest safe state, or why the core cannot be shown. */
    newest: () => showNewest(conditions.core()),
    /** The newest safe state, or why the economy cannot be shown. */
    newestOfEconomy: () => showNewest(conditions.economy()),
    /** The newest safe state if it passes every check, even if it is too old to be shown as live; otherwise null. */
    lastGood: () => {
      const state = onChain?.actors.newest();
      return state != null && conditions.isGood() ? show(state) : null;
    },
    /** Null for a state that is not retained, or whose economy could not be shown yet. */
    at: (block: bigint, hash: string) => {
      const state = onChain?.actors.at(block, hash);
      return state?.mining.implementation == null ? null : show(state);
    },
    unavailable,
    describe: ({ chain, deployment }: ShownState) => ({
      status: 'available' as const,
      installationId,
      generatedAtMs: clock.nowMs(),
      chain,
      release: deployment.release,
    }),
  };
}

/** The reason that bodies carry for a condition (CONTRACT.md, Unavailable reasons). */
function findShownReason(condition: Exclude<ChainCondition, 'available'>): ChainUnavailableReason {
  if (identityFaults.has(condition)) return 'indexer_mismatch';
  return chainUnavailableReasons.find((reason) => reason === condition) ?? 'indexer_unavailable';
}

/** The contracts of a state whose economy can be shown. */
export function listIdentities({ state, deployment }: ShownState) {
  const { core, tokenFactory, mining, token, collection } = deployment.contracts;
  const implementation = requireValue(state.mining.implementation, 'the implementation of a shown economy');
  return {
    core,
    tokenFactory,
    mining,
    token,
    collection,
    miningImplementation: implementation.codeAddress,
    miningImplementationVersion: implementation.codeVersion,
    miningStorageLayoutDigest: implementation.storageLayoutDigest,
  };
}
