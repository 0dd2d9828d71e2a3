import { findEconomyFault, isSupported } from '../../chain/state/chainAvailability.ts';
import { countSettlements } from '../../chain/state/chainState.ts';
import { findSettlementSource } from '../../chain/state/settlementSource.ts';
import type { Checkpoint } from '../../chain/state/settlements.ts';
import type { ConditionsNow } from './chainConditions.ts';
import {
  buildBuckets,
  computeRoundStartMs,
  computeSettlementWindow,
  describeIssuance,
  isInMemoryFrom,
  listRecentSettlements,
  type SettlementRange,
  type SettlementWindow,
  selectEntriesWithin,
  sumMinted,
  sumSettlements,
} from './settlementHistory.ts';
import type { ChainUnavailable, ShownState, ShownStates } from './shownStates.ts';

export type SettlementHistoryView = Exclude<ReturnType<typeof buildSettlementView>, ChainUnavailable>;

/** Settlements and minting of a range, even if only the last good state is known. */
export function buildSettlementView(
  range: SettlementRange,
  nowMs: number,
  { states, conditions }: { readonly states: ShownStates; readonly conditions: ConditionsNow },
) {
  const availability = conditions.core();
  const shown = states.lastGood();
  const source = findSettlementSource({ availability, hasLastGood: shown !== null });
  if (source === 'unavailable' || shown === null)
    return states.unavailable(availability === 'available' ? 'not_yet_safe' : availability);
  const window = computeSettlementWindow(range, nowMs);
  if (window !== null && !isInMemoryFrom(shown.state, computePreviousStartMs(window)))
    return states.unavailable('indexer_unavailable');
  return {
    ...states.describe(shown),
    source,
    range,
    contracts: shown.deployment.contracts,
    window,
    ...(window === null ? describeAll(shown) : describeWindow(shown, window)),
  };
}

/** Sums over all time, and the rounds minted last. */
function describeAll(shown: ShownState) {
  const { state } = shown;
  const issuance = findIssuance(shown, null);
  return {
    summary: {
      ...sumSettlements(state.settlements, state.archive.settlements),
      archivedSettlementCount: BigInt(countSettlements(state)),
    },
    recentSettlements: listRecentSettlements(state, null),
    buckets: buildBuckets(null, [], null),
    issuance,
    recentRounds:
      typeof issuance === 'string'
        ? null
        : state.mintedRounds
            .reverse()
            .map((round) => ({ ...round, endAtMs: computeRoundStartMs(state, round.roundId + 1n) }))
            .toArray(),
    previousPeriod: null,
  };
}

function describeWindow(shown: ShownState, window: SettlementWindow) {
  const { state } = shown;
  const { startAtMs, endAtMs } = window;
  const within = selectEntriesWithin(state.settlements, startAtMs, endAtMs);
  const checkpoints = selectEntriesWithin(state.checkpoints, startAtMs, endAtMs);
  const issuance = findIssuance(shown, checkpoints);
  const isIssuanceKnown = typeof issuance !== 'string';
  const previousStartMs = computePreviousStartMs(window);
  return {
    summary: { ...sumSettlements(within), archivedSettlementCount: BigInt(countSettlements(state)) },
    recentSettlements: listRecentSettlements(state, window),
    buckets: buildBuckets(window, within, isIssuanceKnown ? checkpoints : null),
    issuance,
    recentRounds: null,
    previousPeriod: isIssuanceKnown
      ? {
          startAtMs: previousStartMs,
          endAtMs: startAtMs,
          mintedBaseUnits: sumMinted(selectEntriesWithin(state.checkpoints, previousStartMs, startAtMs)),
        }
      : null,
  };
}

/** Minting by the given checkpoints; null means all checkpoints. */
function findIssuance({ state, deployment, chain }: ShownState, checkpoints: readonly Checkpoint[] | null) {
  if (findEconomyFault(state, deployment.contracts) !== null) return 'not_configured' as const;
  const issuance = describeIssuance(state, checkpoints, chain.economyDeploymentBlock);
  return typeof issuance === 'string' || isSupported(state.mining.implementation)
    ? issuance
    : ('not_configured' as const);
}

/** Start of the previous period, which is as long as the window. */
function computePreviousStartMs({ startAtMs, endAtMs }: SettlementWindow): number {
  return 2 * startAtMs - endAtMs;
}
