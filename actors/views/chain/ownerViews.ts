import { z } from 'zod';
import { findFirstInMemory, requireEvent } from '../../chain/rows/activityRows.ts';
import { countWholeBlocks } from '../../chain/state/blockUnits.ts';
import type { ChainState } from '../../chain/state/chainState.ts';
import { findOwner, type OwnerEvent } from '../../chain/state/ownerState.ts';
import type { createMetadataCheck } from '../../chain/state/tokenMetadata.ts';
import { decodeFields, encodeFields } from '../../feed/opaqueCursor.ts';
import type { OlderActivity } from '../../pages/olderRows.ts';
import { type TwoPartList, twoPartPage } from '../../pages/twoPartPage.ts';
import type { Address } from '../../schemas/hex.ts';
import { buildPortfolioPage } from './ownerPages.ts';
import { type ChainUnavailable, listIdentities, type ShownState, type ShownStates } from './shownStates.ts';

/** `ahead` means that the cursor's block is not safe here yet, because this process is behind the process that issued the cursor. */
export type CursorFault = 'undecodable' | 'other_owner' | 'invalidated' | 'ahead';

export interface OwnerPageRequest {
  readonly owner: Address;
  readonly limit: number;
  readonly cursor: string | null;
}

type Fault = { readonly fault: CursorFault };
/** Configuration and state of the mining contract, the same for all positions. */
export type MiningView = Exclude<ReturnType<typeof describeMining>, ChainUnavailable>;
export type PortfolioView = Exclude<ReturnType<typeof buildPortfolioView>, ChainUnavailable | Fault>;
export type OwnerActivityView = Exclude<
  Awaited<ReturnType<typeof buildActivityView>>,
  ChainUnavailable | Fault
>;

type NoPage = ChainUnavailable | Fault;

export function buildPortfolioView(
  states: ShownStates,
  request: OwnerPageRequest,
  hasMetadata: ReturnType<typeof createMetadataCheck>,
) {
  const page = findPageState(states, 'portfolio', request);
  if (!('shown' in page)) return page;
  const { shown, after } = page;
  const described = describeMining(states, shown);
  if (described.status === 'unavailable') return described;
  const { owner, limit } = request;
  const { tokenIds, paidBaseUnits } = findOwner(shown.state, owner);
  const { hasMore, ...listed } = buildPortfolioPage(shown.state, { tokenIds, limit, after }, hasMetadata);
  const lastShown = Number(listed.positions.at(-1)?.tokenId ?? 0);
  return {
    ...described,
    owner,
    paidBaseUnits,
    ...listed,
    nextCursor: hasMore ? encodeNextCursor(shown, { list: 'portfolio', owner, after: lastShown }) : null,
  };
}

/** Configuration and state of the mining contract at a state's block. */
export function describeMining(states: ShownStates, shown: ShownState) {
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

interface NumberedEvent {
  readonly number: number;
  readonly event: OwnerEvent;
}

/** The events of an owner, newest first. A place is the number of the event before it. */
export function captureActivity(
  state: ChainState,
  owner: Address,
  { read }: Pick<OlderActivity, 'read'>,
): TwoPartList<NumberedEvent, number> {
  const known = findOwner(state, owner);
  const floor = findFirstInMemory(known);
  const addNumbers = (events: readonly OwnerEvent[], from: number) =>
    events.map((event, index) => ({ number: from + index, event }));
  return {
    compare: (one, other) => other.number - one.number,
    findKey: ({ number }) => number,
    listInMemory: (end, most) => {
      const from = Math.max(floor, end - most);
      const events = known.activity.slice(from - floor, Math.max(0, end - floor)).toArray();
      return addNumbers(events, from).reverse();
    },
    isAboveFloor: (end, last) => Math.min(end, floor) === 0 || last !== undefined,
    readRows: async (before, most, signal) => {
      const [from, end] = [Math.max(0, before - most), Math.min(before, floor)];
      return addNumbers(await read({ owner, from, end, throughPosition: state.position }, signal), from);
    },
  };
}

/** A page of an owner's activity, newest first; a promise if some of its events are evicted. */
export function buildActivityView(
  states: ShownStates,
  request: OwnerPageRequest,
  older: OlderActivity,
  signal: AbortSignal,
) {
  const page = findPageState(states, 'activity', request);
  if (!('shown' in page)) return page;
  const { shown, after } = page;
  const { owner, limit } = request;
  const total = findOwner(shown.state, owner).activityCount;
  const left = Math.max(0, total - after);
  const buildView = (found: readonly NumberedEvent[]) => ({
    ...states.describe(shown),
    owner,
    identities: listIdentities(shown),
    total: BigInt(total),
    activity: found.map(({ event }) => event),
    nextCursor:
      left > limit ? encodeNextCursor(shown, { list: 'activity', owner, after: after + limit }) : null,
  });
  const found = twoPartPage(captureActivity(shown.state, owner, older), left, limit, signal);
  return found instanceof Promise ? found.then(buildView) : buildView(found);
}

/**
 * Finds the transfers of miners that a transaction made, in the order of the chain. Memory is asked for the events that are not rows yet, which a search
 * through all owners would take long to find.
 */
export async function findTransfers(
  state: ChainState,
  transactionHash: string,
  older: OlderActivity,
  signal: AbortSignal,
): Promise<readonly OwnerEvent[]> {
  const { pending, rowsThroughBlock } = state.activityProgress;
  const inMemory = pending.toArray().map((one) => requireEvent(state, one));
  const stored = rowsThroughBlock === null ? [] : await older.ofTransaction(transactionHash, state, signal);
  const transfers = [...stored, ...inMemory].filter(
    ({ kind, source }) => kind === 'transfer' && source.transactionHash === transactionHash,
  );
  // Giver and receiver have the same one.
  const byLog = new Map(transfers.map((event) => [event.source.logIndex, event]));
  return [...byLog.values()].sort((one, other) => one.source.logIndex - other.source.logIndex);
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

/** Lists with cursors. A cursor works only for its own list (CONTRACT.md, Cursors). */
const ownerLists = ['portfolio', 'activity'] as const;
export type OwnerList = (typeof ownerLists)[number];

/** Start of an owner's next page, in the state at which the first page was read. */
export interface OwnerCursor {
  readonly list: OwnerList;
  readonly block: bigint;
  readonly blockHash: string;
  readonly owner: string;
  /** The last token ID, or the number of events already shown. */
  readonly after: number;
}

export function encodeOwnerCursor({ list, block, blockHash, owner, after }: OwnerCursor): string {
  return encodeFields([list, block.toString(), blockHash, owner, after]);
}

const cursorFields = z.tuple([
  z.enum(ownerLists),
  z.string().regex(/^(?:0|[1-9]\d{0,19})$/),
  z.string(),
  z.string(),
  z.int().min(1),
]);

function decodeOwnerCursor(text: string): OwnerCursor | null {
  const fields = decodeFields(text, cursorFields);
  if (fields === null) return null;
  const [list, block, blockHash, owner, after] = fields;
  return { list, block: BigInt(block), blockHash, owner, after };
}
