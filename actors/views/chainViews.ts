import { requireValue } from '../../machines/requireValue.ts';
import type { ChainActors } from '../chain/chainActors.ts';
import { type ChainAvailability, findChainAvailability } from '../chain/chainAvailability.ts';
import type { ContractAddresses } from '../chain/chainEvent.ts';
import { type ChainState, countSettlements, countWholeBlocks } from '../chain/chainState.ts';
import { findCollectionPhase } from '../chain/collectionPhase.ts';
import { confirmations } from '../chain/confirmations.ts';
import { findSettlementSource } from '../chain/settlementSource.ts';
import { findEconomyFault, findIssuanceFault, identityFaults } from '../chain/stateChecks.ts';
import { createMetadataCheck, readMetadata } from '../chain/tokenMetadata.ts';
import { cacheView } from './cacheView.ts';
import {
  type ChainCondition,
  type ChainInfo,
  type ChainUnavailable,
  type ChainUnavailableReason,
  type ChainViews,
  type CoreView,
  type CursorFault,
  chainUnavailableReasons,
  type Identities,
  type IssuanceView,
  type OwnerActivityView,
  type OwnerEvent,
  type OwnerPageRequest,
  type Release,
  type SettlementHistoryView,
  type SettlementRange,
} from './chainViewTypes.ts';
import type { Clock } from './clock.ts';
import type { OlderActivity } from './olderActivity.ts';
import { decodeOwnerCursor, encodeOwnerCursor, type OwnerList } from './ownerCursor.ts';
import { buildActivityPage, buildPortfolioPage } from './ownerPages.ts';
import {
  buildBuckets,
  computeRoundStartMs,
  computeSettlementWindow,
  describeIssuance,
  isInMemoryFrom,
  listRecentSettlements,
  mapSettlementRanges,
  selectEntriesWithin,
  sumAllSettlements,
  sumMinted,
  sumSettlements,
} from './settlementHistory.ts';

/** Core state, issuance state and settlement history are shared for this long (CONTRACT.md, Caching). */
const sharedMs = 5_000;
/** Implementation versions whose events and arithmetic are those of this program. */
const supportedVersions: ReadonlySet<bigint> = new Set([1n, 2n]);

/** A deployment on a chain. */
export interface ChainDeployment {
  readonly release: Release;
  readonly chain: Pick<ChainInfo, 'target' | 'chainId' | 'deploymentBlock' | 'economyDeploymentBlock'>;
  readonly contracts: ContractAddresses;
}

export interface ChainViewsOptions {
  readonly installationId: string;
  /** Null when no contracts are configured. */
  readonly onChain: { readonly deployment: ChainDeployment; readonly actors: ChainActors } | null;
  /** Whether all messages that the stream had at the start are folded. */
  readonly isCaughtUp: () => boolean;
  /** Once the newest span is older than this, the indexer counts as unavailable. */
  readonly staleAfterMs: number;
  readonly olderActivity: OlderActivity;
  readonly clock: Clock;
}

/** A safe state that may be shown, with its chain and deployment. */
interface Shown {
  readonly state: ChainState;
  readonly deployment: ChainDeployment;
  readonly chain: ChainInfo;
}

export function createChainViews(options: ChainViewsOptions): ChainViews {
  const { installationId, onChain, clock } = options;
  const release = onChain?.deployment.release ?? null;
  const hasMetadata = createMetadataCheck();

  function availability(needsEconomy: boolean): ChainAvailability {
    const state = onChain?.actors.newest() ?? null;
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

  /** The condition of views of the economy; those of the core alone have their availability. */
  function economyCondition(): ChainCondition {
    const condition = availability(true);
    const state = onChain?.actors.newest() ?? null;
    if (condition !== 'available' || onChain === null || state === null) return condition;
    return findEconomyFault(state, onChain.deployment.contracts) ?? condition;
  }

  function checkedIssuanceCondition(): ChainCondition {
    const condition = economyCondition();
    const state = onChain?.actors.newest() ?? null;
    return condition !== 'available' || state === null ? condition : (findIssuanceFault(state) ?? condition);
  }

  function unavailable(condition: Exclude<ChainCondition, 'available'>): ChainUnavailable {
    return { status: 'unavailable', installationId, reason: findShownReason(condition), release };
  }

  function toShown(state: ChainState): Shown {
    if (onChain === null) throw new Error('a state is shown without a deployment');
    const { deployment, actors } = onChain;
    const { number, hash, timestampMs } = state.block;
    // While a fork is being published the head is lower than it was when the block became safe.
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

  /** The newest safe state, or why there is none to show. */
  function newest(needsEconomy: boolean): Shown | ChainUnavailable {
    const condition = needsEconomy ? economyCondition() : availability(false);
    if (condition !== 'available') return unavailable(condition);
    return toShown(requireValue(onChain?.actors.newest(), 'the safe state of an available chain'));
  }

  const common = ({ chain, deployment }: Shown) =>
    ({
      status: 'available',
      installationId,
      generatedAtMs: clock.nowMs(),
      chain,
      release: deployment.release,
    }) as const;

  /** Until the safe state or the condition of the view changes, and for five seconds at most. */
  function share<View>(condition: () => unknown, compute: () => View): () => View {
    return cacheView({
      inputs: () => [onChain?.actors.newest() ?? null, condition()],
      compute,
      validity: { clock, maxAgeMs: sharedMs },
    });
  }

  function computeCore(): CoreView | ChainUnavailable {
    const shown = newest(false);
    if ('status' in shown) return shown;
    const { core, governance, block } = shown.state;
    const { operation, proxyAdminOwner, proxyAdminSlot, operatorProposer } = governance;
    // A timelock or an admin that is older than the deployment block has logged before it who may do what.
    if (proxyAdminOwner === null || proxyAdminSlot === null || operatorProposer === null)
      return unavailable('indexer_unavailable');
    const isReady = operation?.state === 'scheduled' && operation.readyAtMs <= block.timestampMs;
    return {
      ...common(shown),
      contracts: shown.deployment.contracts,
      core,
      governance,
      operationState: isReady ? 'ready' : (operation?.state ?? null),
    };
  }

  function computeIssuance(): IssuanceView | ChainUnavailable {
    const shown = newest(true);
    if ('status' in shown) return shown;
    const { mining, token, collection, positions, block } = shown.state;
    if (token === null || mining.configuration === null) return unavailable('not_yet_safe');
    return {
      ...common(shown),
      identities: listIdentities(shown),
      asset: { address: shown.deployment.contracts.token, symbol: token.symbol, decimals: token.decimals },
      supplyCap: mining.configuration.supplyCap,
      mintedBaseUnits: mining.mintedBaseUnits,
      tokenSupplyBaseUnits: token.supplyBaseUnits,
      paidBaseUnits: mining.paidBaseUnits,
      closedThroughBlock: mining.closedThroughBlock,
      processedThroughRound: mining.processedThroughRound,
      lastActivationRound: mining.lastActivationRound,
      livePositionCount: BigInt(positions.size),
      collection: { ...collection, phase: findPhase(collection, block.timestampMs) },
    };
  }

  function computeCheckedIssuance(): IssuanceView | ChainUnavailable {
    const condition = checkedIssuanceCondition();
    return condition === 'available' ? computeIssuance() : unavailable(condition);
  }

  function computeSettlements(range: SettlementRange): SettlementHistoryView | ChainUnavailable {
    const reason = availability(false);
    const lastGood = onChain?.actors.newest() ?? null;
    const hasLastGood = lastGood?.core.configuration != null;
    const source = findSettlementSource({ availability: reason, hasLastGood });
    if (source === 'unavailable' || lastGood === null) {
      return unavailable(reason === 'available' ? 'not_yet_safe' : reason);
    }
    const shown = toShown(lastGood);
    const { state } = shown;
    const window = computeSettlementWindow(range, clock.nowMs());
    const spanMs = window === null ? 0 : window.endAtMs - window.startAtMs;
    if (window !== null && !isInMemoryFrom(state, window.startAtMs - spanMs))
      return unavailable('indexer_unavailable');
    const within =
      window === null ? [] : selectEntriesWithin(state.settlements, window.startAtMs, window.endAtMs);
    const checkpoints =
      window === null ? null : selectEntriesWithin(state.checkpoints, window.startAtMs, window.endAtMs);
    const issuance =
      findEconomyFault(state, shown.deployment.contracts) === null
        ? describeIssuance(state, checkpoints, shown.chain.economyDeploymentBlock)
        : 'not_configured';
    const isIssuanceKnown = typeof issuance !== 'string';
    const sums = window === null ? sumAllSettlements(state) : sumSettlements(within);
    return {
      ...common(shown),
      source,
      range,
      contracts: shown.deployment.contracts,
      window,
      summary: { ...sums, archivedSettlementCount: BigInt(countSettlements(state)) },
      recentSettlements: listRecentSettlements(state, window),
      buckets: buildBuckets(window, within, isIssuanceKnown ? checkpoints : null),
      issuance,
      recentRounds:
        window === null
          ? state.mintedRounds
              .reverse()
              .map((round) => ({ ...round, endAtMs: computeRoundStartMs(state, round.roundId + 1n) }))
              .toArray()
          : null,
      previousPeriod:
        window === null || !isIssuanceKnown
          ? null
          : {
              startAtMs: window.startAtMs - spanMs,
              endAtMs: window.startAtMs,
              mintedBaseUnits: sumMinted(
                selectEntriesWithin(state.checkpoints, window.startAtMs - spanMs, window.startAtMs),
              ),
            },
    };
  }

  /** The state that a page is read at: the newest, or that of its cursor. */
  function pageState(
    list: OwnerList,
    { owner, cursor }: OwnerPageRequest,
  ): { shown: Shown; after: number } | ChainUnavailable | { fault: CursorFault } {
    const shown = newest(true);
    if ('status' in shown) return shown;
    if (cursor === null) return { shown, after: 0 };
    const decoded = decodeOwnerCursor(cursor);
    if (decoded === null || decoded.list !== list) return { fault: 'undecodable' };
    if (decoded.owner !== owner) return { fault: 'other_owner' };
    const state = onChain?.actors.at(decoded.block, decoded.blockHash) ?? null;
    return state === null ? { fault: 'invalidated' } : { shown: toShown(state), after: decoded.after };
  }

  const encodeNextCursor = (list: OwnerList, { state }: Shown, owner: string, after: number) =>
    encodeOwnerCursor({ list, block: state.block.number, blockHash: state.block.hash, owner, after });

  const settlementViews = mapSettlementRanges((range) =>
    cacheView({
      inputs: () => [
        onChain?.actors.newest() ?? null,
        availability(false),
        computeSettlementWindow(range, clock.nowMs())?.endAtMs,
      ],
      compute: () => computeSettlements(range),
      validity: { clock, maxAgeMs: sharedMs },
    }),
  );

  return {
    release,
    conditions: () => ({
      core: availability(false),
      economy: economyCondition(),
      checkedIssuance: checkedIssuanceCondition(),
    }),
    core: share(() => availability(false), computeCore),
    issuance: share(economyCondition, computeIssuance),
    checkedIssuance: share(checkedIssuanceCondition, computeCheckedIssuance),
    settlements: (range) => settlementViews[range](),

    portfolio: (request) => {
      const page = pageState('portfolio', request);
      if (!('shown' in page)) return page;
      const { shown, after } = page;
      const { core, mining, token, block } = shown.state;
      const { configuration } = mining;
      if (configuration === null || core.configuration === null || token === null)
        return unavailable('not_yet_safe');
      const { hasMore, ...listed } = buildPortfolioPage(
        shown.state,
        request.owner,
        after,
        request.limit,
        hasMetadata,
      );
      const lastShown = Number(listed.positions.at(-1)?.tokenId ?? 0);
      const { genesisTimestamp, roundDuration } = core.configuration;
      const seconds = BigInt(Math.floor(block.timestampMs / 1000));
      return {
        ...common(shown),
        owner: request.owner,
        identities: listIdentities(shown),
        configuration: {
          ...configuration,
          genesisTimestamp,
          roundDuration,
          tokenSymbol: token.symbol,
          tokenDecimals: token.decimals,
        },
        mining: {
          settledThroughRound: core.settledThroughRound,
          currentRound: seconds < genesisTimestamp ? 0n : (seconds - genesisTimestamp) / roundDuration + 1n,
          completedBlockHeight: countWholeBlocks(core.cumulativeBlockUnits),
          lastAppliedRound: mining.lastActivationRound,
          totalWeight: mining.totalWeight,
        },
        ...listed,
        nextCursor: hasMore ? encodeNextCursor('portfolio', shown, request.owner, lastShown) : null,
      };
    },

    ownerActivity: ({ owner, limit, cursor }, signal) => {
      const page = pageState('activity', { owner, limit, cursor });
      if (!('shown' in page)) return page;
      const { shown, after } = page;
      const { total, activity, older, hasMore } = buildActivityPage(shown.state, owner, after, limit);
      const buildView = (events: readonly OwnerEvent[]): OwnerActivityView => ({
        ...common(shown),
        owner,
        identities: listIdentities(shown),
        total,
        activity: events,
        nextCursor: hasMore ? encodeNextCursor('activity', shown, owner, after + events.length) : null,
      });
      if (older === null) return buildView(activity);
      return options.olderActivity
        .read(older, signal)
        .then((stored) => buildView([...activity, ...stored.toReversed()]));
    },

    economy: () => {
      const shown = newest(true);
      if ('status' in shown) return shown;
      const { token, feed } = shown.state;
      if (token === null) return unavailable('not_yet_safe');
      const { symbol, decimals } = token;
      const asset = { address: shown.deployment.contracts.token, symbol, decimals };
      return { ...common(shown), identities: listIdentities(shown), asset, feed };
    },

    metadata: (tokenId) => {
      const shown = newest(true);
      if ('status' in shown) return shown;
      const metadata = readMetadata(shown.state, tokenId);
      if (metadata === null) return unavailable('not_yet_safe');
      return { ...common(shown), identities: listIdentities(shown), tokenId: BigInt(tokenId), ...metadata };
    },
  };
}

/** The reason that bodies carry for a condition (CONTRACT.md, Unavailable reasons). */
function findShownReason(condition: Exclude<ChainCondition, 'available'>): ChainUnavailableReason {
  if (identityFaults.has(condition)) return 'indexer_mismatch';
  return chainUnavailableReasons.find((reason) => reason === condition) ?? 'indexer_unavailable';
}

function listIdentities({ state, deployment }: Shown): Identities {
  const { core, tokenFactory, mining, token, collection } = deployment.contracts;
  const { implementation } = state.mining;
  if (implementation === null) throw new Error('the economy is shown without an implementation');
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

/** The sale's phase at a time; the same as the contract's own. */
export function findPhase(collection: ChainState['collection'], timestampMs: number) {
  const { sale, isClosed, publicMinted } = collection;
  return findCollectionPhase({
    timestampSeconds: BigInt(Math.floor(timestampMs / 1000)),
    isConfigured: sale !== null,
    isClosed,
    isSoldOut: sale !== null && publicMinted >= sale.publicAllocation,
    allowlistStart: sale?.allowlistStart ?? 0n,
    allowlistEnd: sale?.allowlistEnd ?? 0n,
  });
}
