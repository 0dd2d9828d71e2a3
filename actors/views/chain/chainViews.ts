import { cacheView } from '../../caching/cacheView.ts';
import { createMetadataCheck, readMetadata } from '../../chain/state/tokenMetadata.ts';
import type { OlderActivity } from '../../older/olderActivity.ts';
import { type ChainConditionsOptions, type ConditionsNow, createChainConditions } from './chainConditions.ts';
import type { ChainViews, LastKnownChainViews } from './chainViewTypes.ts';
import { buildCoreView, buildEconomyView, buildIssuanceView } from './coreViews.ts';
import { buildActivityView, buildPortfolioView } from './ownerViews.ts';
import { computeSettlementWindow, mapSettlementRanges } from './settlementHistory.ts';
import { buildSettlementView } from './settlementView.ts';
import { createShownStates, listIdentities, type ShownStates } from './shownStates.ts';
import { createWeightViews } from './weightViews.ts';

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
  const { onChain, clock } = options;
  const conditions = createChainConditions(options);
  const states = createShownStates({ ...options, conditions });
  const newest = () => onChain?.actors.newest() ?? null;
  const share = createSharing(options);

  const settlementViews = mapSettlementRanges((range) =>
    share(
      () => [conditions.core(), computeSettlementWindow(range, clock.nowMs())?.endAtMs],
      () => buildSettlementView(range, clock.nowMs(), { states, conditions }),
    ),
  );

  return {
    ...createStateViews(options, { states, conditions }),
    safeState: () => (conditions.core() === 'available' ? newest() : null),
    release: onChain?.deployment.release ?? null,
    conditions: () => ({
      core: conditions.core(),
      economy: conditions.economy(),
      checkedIssuance: conditions.checkedIssuance(),
    }),
    checkedIssuance: share(
      () => [conditions.checkedIssuance()],
      () => {
        const condition = conditions.checkedIssuance();
        return condition === 'available' ? buildIssuanceView(states) : states.unavailable(condition);
      },
    ),
    settlements: (range) => settlementViews[range](),
    following: cacheView({
      inputs: () => {
        const condition = conditions.core();
        return [condition, condition === 'available' ? null : (states.lastGood()?.state.block ?? null)];
      },
      compute: (condition, block) => ({
        target: onChain?.deployment.chain.target ?? null,
        reason: condition === 'available' ? null : states.unavailable(condition).reason,
        lastKnown: block === null ? null : { blockNumber: block.number, timestampMs: block.timestampMs },
      }),
    }),
    lastKnown: createLastKnownViews(options),
  };
}

function createLastKnownViews(options: ChainViewsOptions): LastKnownChainViews {
  const conditions = createChainConditions(options, { acceptsOld: true });
  return createStateViews(options, {
    conditions,
    states: createShownStates({ ...options, conditions }),
  });
}

/** Returns a function that shares a view until the safe state or another input changes, or the view is too old. */
function createSharing({ onChain, clock }: Pick<ChainViewsOptions, 'onChain' | 'clock'>) {
  return <View>(
    otherInputs: () => readonly unknown[],
    compute: () => View,
    maxAgeMs = sharedMs,
  ): (() => View) =>
    cacheView({
      inputs: () => [onChain?.actors.newest() ?? null, ...otherInputs()],
      compute,
      validity: { clock, maxAgeMs },
    });
}

/** The views that need one state. */
function createStateViews(
  options: ChainViewsOptions,
  { states, conditions }: { readonly states: ShownStates; readonly conditions: ConditionsNow },
): LastKnownChainViews {
  const { onChain, olderActivity } = options;
  const share = createSharing(options);
  const hasMetadata = createMetadataCheck();
  return {
    core: share(
      () => [conditions.core()],
      () => buildCoreView(states),
    ),
    issuance: share(
      () => [conditions.economy()],
      () => buildIssuanceView(states),
    ),
    portfolio: (request) => buildPortfolioView(states, request, hasMetadata),
    ownerActivity: (request, signal) =>
      buildActivityView(states, request, (range) => olderActivity.read(range, signal)),
    ...createWeightViews(states, hasMetadata),
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
