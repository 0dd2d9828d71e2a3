import { z } from 'zod';
import { memoizeByIdentity } from '../../caching/memoizeByIdentity.ts';
import type { ChainState } from '../../chain/state/chainState.ts';
import {
  activateWeight,
  computeActiveWeight,
  computeTargetWeight,
  listEarningsDates,
} from '../../chain/state/rewards.ts';
import type { createMetadataCheck } from '../../chain/state/tokenMetadata.ts';
import { findFirstIndex } from '../../events/findFirstIndex.ts';
import { decodeFields, encodeFields } from '../../feed/opaqueCursor.ts';
import type { Address } from '../../schemas/hex.ts';
import { buildPortfolioPage, evaluatePosition, toPositionView } from './ownerPages.ts';
import { describeMining } from './ownerViews.ts';
import type { ChainUnavailable, ShownStates } from './shownStates.ts';

export interface WeightPageRequest {
  readonly limit: number;
  /** Null for the first page. */
  readonly cursor: string | null;
}

type WeightViews = ReturnType<typeof createWeightViews>;
type Fault = { readonly fault: string };
export type MinerView = Exclude<ReturnType<WeightViews['miner']>, ChainUnavailable>;
export type MinersView = Exclude<ReturnType<WeightViews['miners']>, ChainUnavailable | Fault>;
export type OwnersView = Exclude<ReturnType<WeightViews['owners']>, ChainUnavailable | Fault>;

type RankedList = 'miners' | 'owners';

/** One miner, and all miners and owners by weight. */
export function createWeightViews(states: ShownStates, hasMetadata: ReturnType<typeof createMetadataCheck>) {
  const rank = memoizeByIdentity(rankWeights);

  function readMining() {
    const shown = states.newestOfEconomy();
    if ('status' in shown) return shown;
    const mining = describeMining(states, shown);
    return mining.status === 'unavailable' ? mining : { state: shown.state, mining };
  }

  return {
    miner: (tokenId: number) => {
      const read = readMining();
      if ('status' in read) return read;
      const { state, mining } = read;
      const { publicMinted, reserveMinted } = state.collection;
      const owner = state.minerPositions.get(tokenId)?.owner;
      // Whether there is or was such a token: they are numbered in the order of their creation.
      const isCreated = owner !== undefined || BigInt(tokenId) <= publicMinted + reserveMinted;
      const described = { ...mining, tokenId: BigInt(tokenId), isCreated };
      // It has been merged into another one.
      if (owner === undefined) return { ...described, live: null };
      const page = { tokenIds: [tokenId], limit: 1, after: 0 };
      const { earnings, positions } = buildPortfolioPage(state, page, hasMetadata);
      const [position] = positions;
      return { ...described, live: position === undefined ? null : { owner, position, earnings } };
    },
    /** All live miners, by weight and then by token ID. A cursor goes on below the last weight that was shown, even if weights have changed since. */
    miners: (request: WeightPageRequest) => {
      const read = readMining();
      if ('status' in read) return read;
      const { state, mining } = read;
      const page = selectPage('miners', rank(state).miners, request);
      if (page === null) return { fault: 'undecodable' as const };
      const dates = listEarningsDates(state);
      const miners = page.entries.map(({ tokenId }) => {
        const evaluated = evaluatePosition(state, tokenId, dates);
        const { owner } = evaluated.position;
        return { owner, ...toPositionView(state, evaluated, hasMetadata(state, tokenId)) };
      });
      return { ...mining, miners, nextCursor: page.nextCursor };
    },
    /** All owners of live miners, by weight and then by address. */
    owners: (request: WeightPageRequest) => {
      const read = readMining();
      if ('status' in read) return read;
      const page = selectPage('owners', rank(read.state).owners, request);
      if (page === null) return { fault: 'undecodable' as const };
      return { ...read.mining, owners: page.entries, nextCursor: page.nextCursor };
    },
  };
}

/** The last entry that a page has shown: its weight and its key. */
const cursorFields = z.tuple([z.enum(['miners', 'owners']), z.string().regex(/^\d{1,78}$/), z.string()]);

/** The entries after a cursor; null for one that cannot be decoded, or of another list. */
function selectPage<Entry extends WeightPlace>(
  list: RankedList,
  ranked: readonly Entry[],
  { limit, cursor }: WeightPageRequest,
) {
  const fields = cursor === null ? null : decodeFields(cursor, cursorFields);
  if (cursor !== null && fields?.[0] !== list) return null;
  const shown = fields === null ? null : { activeWeight: BigInt(fields[1]), key: fields[2] };
  const from =
    shown === null
      ? 0
      : findFirstIndex(ranked.length, (index) => comparePlaces(shown, ranked[index] as Entry) < 0);
  const entries = ranked.slice(from, from + limit);
  const last = entries.at(-1);
  const hasMore = from + limit < ranked.length;
  return {
    entries,
    nextCursor:
      last === undefined || !hasMore ? null : encodeFields([list, String(last.activeWeight), last.key]),
  };
}

/** A place in the order of weights. */
interface WeightPlace {
  /** Mining power that earns now. */
  readonly activeWeight: bigint;
  /** Orders equal weights. */
  readonly key: string;
}

/** An owner of live miners. */
export interface OwnerWeight extends WeightPlace {
  readonly address: Address;
  readonly positionCount: bigint;
  /** Mining power after pending changes. */
  readonly targetWeight: bigint;
}

/** All live miners and their owners at a state's block, the heaviest first; equal weights by token ID or address. */
function rankWeights(state: ChainState) {
  const miners: (WeightPlace & { readonly tokenId: number })[] = [];
  const owners = new Map<Address, OwnerWeight>();
  for (const stored of state.minerPositions.values()) {
    const position = activateWeight(state.mining, stored);
    const { tokenId, owner: address } = position;
    const activeWeight = computeActiveWeight(position);
    miners.push({ tokenId, activeWeight, key: String(tokenId).padStart(4, '0') });
    const known = owners.get(address);
    owners.set(address, {
      address,
      key: address,
      positionCount: (known?.positionCount ?? 0n) + 1n,
      activeWeight: (known?.activeWeight ?? 0n) + activeWeight,
      targetWeight: (known?.targetWeight ?? 0n) + computeTargetWeight(position),
    });
  }
  return { miners: miners.sort(comparePlaces), owners: [...owners.values()].sort(comparePlaces) };
}

function comparePlaces(one: WeightPlace, other: WeightPlace): number {
  if (one.activeWeight !== other.activeWeight) return one.activeWeight > other.activeWeight ? -1 : 1;
  return one.key < other.key ? -1 : one.key > other.key ? 1 : 0;
}
