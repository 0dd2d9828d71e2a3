import { blockUnitScale } from '../chain/state/blockUnits.ts';
import type { CoreConfiguration } from '../chain/state/coreState.ts';
import { nextDifficulty } from '../chain/state/settlementArithmetic.ts';
import type { FeedItem } from '../feed/feedItem.ts';
import type { ChainUnavailable } from './chain/shownStates.ts';
import { type ChainPage, type ChainPageRequest, findBlockTime, readChainPage } from './feed/feedRecords.ts';
import type { FeedUnavailable } from './feed/feedViews.ts';
import type { ActorViews } from './views.ts';

/** The part of a batch that tells the difficulty: it settled this work for these block units. */
export interface DifficultyBatch {
  readonly activeRoundCount: bigint;
  readonly workAdded: bigint;
  /** Block units that it added; null if the batch before it is not known. */
  readonly addedBlockUnits: bigint | null;
}

type DifficultyConfiguration = Pick<
  CoreConfiguration,
  'targetBlocksPerActiveRound' | 'difficultySmoothingRounds'
>;

/** If more difficulties than this fit a batch, as with little work, they are not tried. */
const candidatesMax = 64n;

/**
 * Finds the difficulty after each of consecutive batches, which events do not say. Their block units leave few values for the difficulty that a batch
 * was settled with, mostly one, and the next batches leave fewer.
 *
 * @param batches oldest first.
 * @param initial difficulty before them; null if it is not known.
 * @param final difficulty after them; null if it is not known.
 * @returns work for 1,000 work blocks after each batch; null where none or several values fit.
 */
export function findDifficulties(
  batches: readonly DifficultyBatch[],
  { initial, final }: { readonly initial: bigint | null; readonly final: bigint | null },
  configuration: DifficultyConfiguration,
): (bigint | null)[] {
  const after = followDifficulties(batches, initial, configuration);
  // A batch without work does not change it.
  let value = final;
  for (let index = batches.length - 1; index >= 0; index--) {
    after[index] ??= value;
    value = batches[index]?.workAdded === 0n ? (after[index] ?? null) : null;
  }
  return after;
}

function followDifficulties(
  batches: readonly DifficultyBatch[],
  initial: bigint | null,
  configuration: DifficultyConfiguration,
): (bigint | null)[] {
  const first = initial === null ? batches.findIndex((batch) => listCandidates(batch).length > 0) : 0;
  const [start] = batches.slice(first === -1 ? batches.length : first);
  if (start === undefined) return batches.map(() => null);
  const followed = batches.slice(first);
  /** Each begins with a difficulty before the first followed batch. */
  const paths = (initial === null ? listCandidates(start) : [initial]).flatMap((before) => {
    const path = [before];
    for (const batch of followed) {
      const now = path.at(-1) as bigint;
      if (!fits(now, batch)) return [];
      const { workAdded, activeRoundCount: activeRounds } = batch;
      path.push(nextDifficulty(now, { workAdded, activeRounds }, configuration));
    }
    return [path];
  });
  const [one, ...others] = paths;
  const agreed = (index: number): bigint | null => {
    const value = one?.[index];
    return value === undefined || others.some((other) => other[index] !== value) ? null : value;
  };
  const after = followed.map((_, index) => agreed(index + 1));
  const before = batches.slice(0, first).map((_, index) => (index === first - 1 ? agreed(0) : null));
  return [...before, ...after];
}

/** Each round adds its work in block units of the difficulty, rounded down. */
function fits(
  difficulty: bigint,
  { workAdded, activeRoundCount, addedBlockUnits }: DifficultyBatch,
): boolean {
  if (addedBlockUnits === null || workAdded === 0n) return true;
  const work = workAdded * blockUnitScale;
  return difficulty * addedBlockUnits <= work && work < difficulty * (addedBlockUnits + activeRoundCount);
}

/** The difficulties that fit a batch; none if they are too many. */
function listCandidates({ workAdded, activeRoundCount, addedBlockUnits }: DifficultyBatch): bigint[] {
  if (addedBlockUnits === null || addedBlockUnits === 0n || workAdded === 0n) return [];
  const work = workAdded * blockUnitScale;
  const least = work / (addedBlockUnits + activeRoundCount) + 1n;
  const most = work / addedBlockUnits;
  if (most < least || most - least >= candidatesMax) return [];
  return Array.from({ length: Number(most - least) + 1 }, (_, index) => least + BigInt(index));
}

export interface BatchPage extends ChainPage {
  /** Work for 1,000 work blocks before and after each event; null where the batches do not tell it. */
  readonly difficulties: readonly { readonly before: bigint | null; readonly after: bigint | null }[];
}

const settled = 'system.settlement_completed';
/** Batches before a page that are read, too: more than follow each other without work. */
const olderLimit = 40;

/** Reads a page of batches, newest first, with the difficulty before and after each. */
export async function readBatchPage(
  { chain, feed }: Pick<ActorViews, 'chain' | 'feed'>,
  request: ChainPageRequest,
  signal: AbortSignal,
): Promise<BatchPage | ChainUnavailable | FeedUnavailable | { readonly fault: 'undecodable' }> {
  const core = chain.core();
  if (core.status === 'unavailable') return core;
  const { configuration, workPerThousandBlocks, settledThroughRound } = core.core;
  if (configuration === null) throw new Error('the core is shown before it is configured');
  // Earlier batches tell what the first ones of the page have added, and with which difficulty.
  const page = await readChainPage(feed, settled, { ...request, fromMs: null }, signal);
  if ('fault' in page || page.status === 'unavailable') return page;
  const older = { limit: olderLimit, cursor: page.nextCursor, fromMs: null, toMs: null };
  const earlier = page.nextCursor === null ? null : await readChainPage(feed, settled, older, signal);
  if (earlier !== null && ('fault' in earlier || earlier.status === 'unavailable')) return earlier;
  const batches = [...page.events, ...(earlier?.events ?? [])].reverse().flatMap(toSettlement);
  const isFromStart = batches[0]?.previousSettledThroughRound === 0n;
  let units = isFromStart ? 0n : null;
  const known = batches.map(({ activeRoundCount, workAdded, cumulativeBlockUnits }): DifficultyBatch => {
    const addedBlockUnits = units === null ? null : cumulativeBlockUnits - units;
    units = cumulativeBlockUnits;
    return { activeRoundCount, workAdded, addedBlockUnits };
  });
  const initial = isFromStart ? configuration.initialWorkPerThousandBlocks : null;
  const final = batches.at(-1)?.settledThroughRound === settledThroughRound ? workPerThousandBlocks : null;
  const after = [initial, ...findDifficulties(known, { initial, final }, configuration)].reverse();
  const { fromMs } = request;
  const events = page.events.filter((item) => fromMs === null || findBlockTime(item) >= fromMs);
  const isCut = events.length < page.events.length;
  return {
    ...page,
    events,
    nextCursor: isCut ? null : page.nextCursor,
    difficulties: events.map((_, index) => ({
      before: after[index + 1] ?? null,
      after: after[index] ?? null,
    })),
  };
}

function toSettlement({ event }: FeedItem) {
  return event.family === 'chain' && event.details.type === settled ? [event.details] : [];
}
