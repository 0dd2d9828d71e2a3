import { cacheView } from '../../caching/cacheView.ts';
import { createMetadataCheck, readMetadata } from '../../chain/state/tokenMetadata.ts';
import type { OlderActivity } from '../../pages/olderRows.ts';
import { type ChainConditionsOptions, type ConditionsNow, createChainConditions } from './chainConditions.ts';
import { buildCoreView, buildEconomyView, buildIssuanceView } from './coreViews.ts';
import { buildActivityView, buildPortfolioView, findTransfers, type OwnerPageRequest } from './ownerViews.ts';
import { computeSettlementWindow, mapSettlementRanges, type SettlementRange } from './settlementHistory.ts';
import { buildSettlementView } from './settlementView.ts';
import { type ChainUnavailable, createShownStates, listIdentities, type ShownStates } from './shownStates.ts';
import { createWeightViews } from './weightViews.ts';

/** Core state, issuance state and settlement history are shared for this long (CONTRACT.md, Caching). */
const sharedMs = 5_000;
/** Pages of the feed and of owners, whose context is the economy, are shared while many clients ask for the same one. */
const economySharedMs = 1_000;

interface ChainViewsOptions extends ChainConditionsOptions {
  readonly installationId: string;
  readonly olderActivity: OlderActivity;
}

/** Views for the chain's routes. Every call is synchronous and without I/O, except a page of older activity. */
export type ChainViews = ReturnType<typeof createChainViews>;
/** Conditions of the core's views, the economy's views and the checked issuance state. */
export type ChainConditions = ReturnType<ChainViews['conditions']>;
export type MetadataView = Exclude<ReturnType<ChainViews['metadata']>, ChainUnavailable>;
/** How the chain is followed at the moment, for people. */
export type ChainFollowing = ReturnType<ChainViews['following']>;

/** The views of a chain. Each is a function of the newest state that may be shown. */
export function createChainViews(options: ChainViewsOptions) {
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
    /** The newest safe state; null if the core cannot be shown. */
    safeState: () => (conditions.core() === 'available' ? newest() : null),
    /** The last message that the state includes; null before the first restoration, and without contracts. */
    foldedThrough: () => onChain?.actors.foldedThrough ?? null,
    /** Null if no contracts are configured. */
    release: onChain?.deployment.release ?? null,
    /** For operators; bodies carry fewer reasons. */
    conditions: () => ({
      core: conditions.core(),
      economy: conditions.economy(),
      checkedIssuance: conditions.checkedIssuance(),
    }),
    /** Issuance that has passed the checks of the public routes. */
    checkedIssuance: share(
      () => [conditions.checkedIssuance()],
      () => {
        const condition = conditions.checkedIssuance();
        return condition === 'available' ? buildIssuanceView(states) : states.unavailable(condition);
      },
    ),
    settlements: (range: SettlementRange) => settlementViews[range](),
    /** Which chain it is, and what is known while it cannot be read. The same object until something of it changes. */
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
    /**
     * Views of the newest state that passes every check, even while it is too old for the routes. Pages show them with their date. The
     * settlement views do that themselves.
     */
    lastKnown: createLastKnownViews(options),
  };
}

function createLastKnownViews(options: ChainViewsOptions) {
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
) {
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
    portfolio: (request: OwnerPageRequest) => buildPortfolioView(states, request, hasMetadata),
    /** A value if the page is in memory, else a promise, which may reject with StoreUnavailable. */
    ownerActivity: (request: OwnerPageRequest, signal: AbortSignal) =>
      buildActivityView(states, request, olderActivity, signal),
    /** Transfers of miners in a transaction, in the order of the chain. May reject with StoreUnavailable. */
    transfers: (transactionHash: string, signal: AbortSignal) => {
      const shown = states.newestOfEconomy();
      return 'status' in shown ? shown : findTransfers(shown.state, transactionHash, olderActivity, signal);
    },
    ...createWeightViews(states, hasMetadata),
    /** The chain's events for the feed. */
    economy: share(
      () => [conditions.economy(), onChain?.actors.state.head],
      () => buildEconomyView(states),
      economySharedMs,
    ),
    /** `not_yet_safe` for a token that is missing, or whose metadata is of an earlier epoch. */
    metadata: (tokenId: number) => {
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
