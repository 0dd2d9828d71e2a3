import { z } from 'zod';
import { memoizeByIdentity } from '../../caching/memoizeByIdentity.ts';
import { listEarningsDates } from '../../chain/state/rewards.ts';
import type { createMetadataCheck } from '../../chain/state/tokenMetadata.ts';
import { findFirstIndex } from '../../events/findFirstIndex.ts';
import { decodeFields, encodeFields } from '../../feed/opaqueCursor.ts';
import type { ChainViews, WeightPageRequest } from './chainViewTypes.ts';
import { buildPortfolioPage, evaluatePosition, toPositionView } from './ownerPages.ts';
import { describeMining } from './ownerViews.ts';
import type { ShownStates } from './shownStates.ts';
import { comparePlaces, rankWeights, type WeightPlace } from './weights.ts';

type RankedList = 'miners' | 'owners';

/** One miner, and all miners and owners by weight. */
export function createWeightViews(
  states: ShownStates,
  hasMetadata: ReturnType<typeof createMetadataCheck>,
): Pick<ChainViews, 'miner' | 'miners' | 'owners'> {
  const rank = memoizeByIdentity(rankWeights);

  function readMining() {
    const shown = states.newestOfEconomy();
    if ('status' in shown) return shown;
    const mining = describeMining(states, shown);
    return mining.status === 'unavailable' ? mining : { state: shown.state, mining };
  }

  return {
    miner: (tokenId) => {
      const read = readMining();
      if ('status' in read) return read;
      const { state, mining } = read;
      const { publicMinted, reserveMinted } = state.collection;
      const owner = state.minerPositions.get(tokenId)?.owner;
      // Tokens are numbered in the order of their creation.
      const isCreated = owner !== undefined || BigInt(tokenId) <= publicMinted + reserveMinted;
      const described = { ...mining, tokenId: BigInt(tokenId), isCreated };
      if (owner === undefined) return { ...described, live: null };
      const page = { tokenIds: [tokenId], limit: 1, after: 0 };
      const { earnings, positions } = buildPortfolioPage(state, page, hasMetadata);
      const [position] = positions;
      return { ...described, live: position === undefined ? null : { owner, position, earnings } };
    },
    miners: (request) => {
      const read = readMining();
      if ('status' in read) return read;
      const { state, mining } = read;
      const page = selectPage('miners', rank(state).miners, request);
      if (page === null) return { fault: 'undecodable' };
      const dates = listEarningsDates(state);
      const miners = page.entries.map(({ tokenId }) => {
        const evaluated = evaluatePosition(state, tokenId, dates);
        const { owner } = evaluated.position;
        return { owner, ...toPositionView(state, evaluated, hasMetadata(state, tokenId)) };
      });
      return { ...mining, miners, nextCursor: page.nextCursor };
    },
    owners: (request) => {
      const read = readMining();
      if ('status' in read) return read;
      const page = selectPage('owners', rank(read.state).owners, request);
      if (page === null) return { fault: 'undecodable' };
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
