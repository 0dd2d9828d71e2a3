import { countWholeBlocks } from '../../chain/state/blockUnits.ts';
import type { OwnerEvent } from '../../chain/state/ownerState.ts';
import type { createMetadataCheck } from '../../chain/state/tokenMetadata.ts';
import type { ActivityRange } from '../../older/olderActivity.ts';
import type {
  ChainUnavailable,
  CursorFault,
  MiningView,
  OwnerActivityView,
  OwnerPageRequest,
  PortfolioView,
} from './chainViewTypes.ts';
import { decodeOwnerCursor, encodeOwnerCursor, type OwnerCursor, type OwnerList } from './ownerCursor.ts';
import { buildActivityPage, buildPortfolioPage } from './ownerPages.ts';
import { listIdentities, type ShownState, type ShownStates } from './shownStates.ts';

type NoPage = ChainUnavailable | { readonly fault: CursorFault };

export function buildPortfolioView(
  states: ShownStates,
  request: OwnerPageRequest,
  hasMetadata: ReturnType<typeof createMetadataCheck>,
): PortfolioView | NoPage {
  const page = findPageState(states, 'portfolio', request);
  if (!('shown' in page)) return page;
  const { shown, after } = page;
  const described = describeMining(states, shown);
  if (described.status === 'unavailable') return described;
  const { owner, limit } = request;
  const tokenIds = shown.state.owners.get(owner)?.tokenIds ?? [];
  const { hasMore, ...listed } = buildPortfolioPage(shown.state, { tokenIds, limit, after }, hasMetadata);
  const lastShown = Number(listed.positions.at(-1)?.tokenId ?? 0);
  return {
    ...described,
    owner,
    ...listed,
    nextCursor: hasMore ? encodeNextCursor(shown, { list: 'portfolio', owner, after: lastShown }) : null,
  };
}

/** Configuration and state of the mining contract at a state's block, the same for all positions. */
export function describeMining(states: ShownStates, shown: ShownState): MiningView | ChainUnavailable {
  const { core, mining, token, block } = shown.state;
  const { configuration } = mining;
  if (configuration === null || core.configuration === null || token === null)
    return states.unavailable('not_yet_safe');
  const { genesisTimestamp, roundDuration } = core.configuration;
  const seconds = BigInt(Math.floor(block.timestampMs / 1000));
  return {
    ...states.describe(shown),
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
  };
}

/** A page of an owner's activity, newest first; a promise if some of its events are evicted. */
export function buildActivityView(
  states: ShownStates,
  request: OwnerPageRequest,
  readOlder: (range: ActivityRange) => Promise<readonly OwnerEvent[]>,
): OwnerActivityView | NoPage | Promise<OwnerActivityView> {
  const page = findPageState(states, 'activity', request);
  if (!('shown' in page)) return page;
  const { shown, after } = page;
  const { owner, limit } = request;
  const { total, activity, older, hasMore } = buildActivityPage(shown.state, { owner, limit, after });
  const buildView = (events: readonly OwnerEvent[]): OwnerActivityView => ({
    ...states.describe(shown),
    owner,
    identities: listIdentities(shown),
    total,
    activity: events,
    nextCursor: hasMore
      ? encodeNextCursor(shown, { list: 'activity', owner, after: after + events.length })
      : null,
  });
  if (older === null) return buildView(activity);
  return readOlder(older).then((stored) => buildView([...activity, ...stored.toReversed()]));
}

/** The state at which a page is read: the newest one, or the cursor's. */
function findPageState(
  states: ShownStates,
  list: OwnerList,
  { owner, cursor }: OwnerPageRequest,
): { readonly shown: ShownState; readonly after: number } | NoPage {
  // Checked first, since the validity of a cursor does not depend on the state.
  const decoded = cursor === null ? null : decodeOwnerCursor(cursor);
  if (cursor !== null && decoded?.list !== list) return { fault: 'undecodable' };
  if (decoded !== null && decoded.owner !== owner) return { fault: 'other_owner' };
  const shown = states.newestOfEconomy();
  if ('status' in shown) return shown;
  if (decoded === null) return { shown, after: 0 };
  if (decoded.block > shown.state.block.number) return { fault: 'ahead' };
  const before = states.at(decoded.block, decoded.blockHash);
  return before === null ? { fault: 'invalidated' } : { shown: before, after: decoded.after };
}

function encodeNextCursor(
  { state: { block } }: ShownState,
  next: Pick<OwnerCursor, 'list' | 'owner' | 'after'>,
): string {
  return encodeOwnerCursor({ ...next, block: block.number, blockHash: block.hash });
}
