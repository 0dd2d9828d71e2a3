import { cacheView } from '../../cacheView.ts';
import { createMetadataCheck, readMetadata } from '../../chain/state/tokenMetadata.ts';
import { type ChainConditionsOptions, createChainConditions } from './chainConditions.ts';
import type { ChainViews } from './chainViewTypes.ts';
import { buildCoreView, buildEconomyView, buildIssuanceView } from './coreViews.ts';
import type { OlderActivity } from './olderActivity.ts';
import { buildActivityView, buildPortfolioView } from './ownerViews.ts';
import { computeSettlementWindow, mapSettlementRanges } from './settlementHistory.ts';
import { buildSettlementView } from './settlementView.ts';
import { createShownStates, listIdentities } from './shownStates.ts';

/** Core state, issuance state and settlement history are shared for this long (CONTRACT.md, Caching). */
const sharedMs = 5_000;
/** Pages of the feed and of owners, whose context is the economy, are shared while many clients ask for the same one. */
const economySharedMs = 1_000;

interface ChainViewsOptions extends ChainConditionsOptions {
  readonly installationId: string;
  readonly olderActivity: OlderActivity;
}

/** The views of a chain. Each is a function of the newest state that may be shown. */
export function createChainViews(options: ChainViewsOptions): ChainViews {
  const { onChain, clock, olderActivity } = options;
  const conditions = createChainConditions(options);
  const states = createShownStates({ ...options, conditions });
  const hasMetadata = createMetadataCheck();
  const newest = () => onChain?.actors.newest() ?? null;

  /** Shares a view until the safe state or another input changes, or it is too old. */
  function share<View>(
    otherInputs: () => readonly unknown[],
    compute: () => View,
    maxAgeMs = sharedMs,
  ): () => View {
    return cacheView({
      inputs: () => [newest(), ...otherInputs()],
      compute,
      validity: { clock, maxAgeMs },
    });
  }

  const settlementViews = mapSettlementRanges((range) =>
    share(
      () => [conditions.core(), computeSettlementWindow(range, clock.nowMs())?.endAtMs],
      () => buildSettlementView(range, clock.nowMs(), { states, conditions }),
    ),
  );

  return {
    safeState: () => (conditions.core() === 'available' ? newest() : null),
    release: onChain?.deployment.release ?? null,
    conditions: () => ({
      core: conditions.core(),
      economy: conditions.economy(),
      checkedIssuance: conditions.checkedIssuance(),
    }),
    core: share(
      () => [conditions.core()],
      () => buildCoreView(states),
    ),
    issuance: share(
      () => [conditions.economy()],
      () => buildIssuanceView(states),
    ),
    checkedIssuance: share(
      () => [conditions.checkedIssuance()],
      () => {
        const condition = conditions.checkedIssuance();
        return condition === 'available' ? buildIssuanceView(states) : states.unavailable(condition);
      },
    ),
    settlements: (range) => settlementViews[range](),
    portfolio: (request) => buildPortfolioView(states, request, hasMetadata),
    ownerActivity: (request, signal) =>
      buildActivityView(states, request, (range) => olderActivity.read(range, signal)),
    economy: share(
      () => [conditions.economy(), onChain?.actors.state.head],
      () => buildEconomyView(states),
      economySharedMs,
    ),
    metadata: (tokenId) => {
      const shown = states.newestOfEconomy();
      if ('status' in shown) return shown;
      const metadata = readMetadata(shown.state, tokenId);
      if (metadata === null) return states.unavailable('not_yet_safe');
      return {
        ...states.describe(shown),
        identities: listIdentities(shown),
        tokenId: BigInt(tokenId),
        ...metadata,
      };
    },
  };
}
