import { blockUnitsPerBlock } from '../chain/state/blockUnits.ts';
import type { CoreConfiguration } from '../chain/state/coreState.ts';
import { nextDifficulty } from '../chain/state/settlementArithmetic.ts';
import type { ChainUnavailable } from './chain/chainViewTypes.ts';
import {
  type ChainPage,
  type ChainPageRequest,
  findEventsOfSpan,
  readChainPage,
} from './feed/feedRecords.ts';
import type { FeedItem, FeedUnavailable } from './feed/feedViews.ts';
import type { ActorViews } from './views.ts';

/** What a batch says of the difficulty: it settled this work for these block units. */
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
const scale = blockUnitsPerBlock * 1000n;

/**
 * Finds the difficulty after each of consecutive batches, which events do not say. Their block units leave few values for the difficulty that a batch
 * was settled with, mostly one, and the next batches leave fewer.
 *
 * @param batches oldest first.
 * @param initial difficulty before them; null if it is not known.
 * @returns work for 1,000 work blocks after each batch; null where none or several values fit.
 */
export function findDifficulties(
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
  // A batch without work does not change it.
  let before = agreed(0);
  for (let index = first - 1; index >= 0; index--) {
    after.unshift(before);
    if (batches[index]?.activeRoundCount !== 0n) before = null;
  }
  return after;
}

/** Each round adds its work in block units of the difficulty, rounded down. */
function fits(
  difficulty: bigint,
  { workAdded, activeRoundCount, addedBlockUnits }: DifficultyBatch,
): boolean {
  if (addedBlockUnits === null || workAdded === 0n) return true;
  const work = workAdded * scale;
  return difficulty * addedBlockUnits <= work && work < difficulty * (addedBlockUnits + activeRoundCount);
}

/** The difficulties that fit a batch; none if they are too many. */
function listCandidates({ workAdded, activeRoundCount, addedBlockUnits }: DifficultyBatch): bigint[] {
  if (addedBlockUnits === null || addedBlockUnits === 0n || workAdded === 0n) return [];
  const work = workAdded * scale;
  const least = work / (addedBlockUnits + activeRoundCount) + 1n;
  const most = work / addedBlockUnits;
  if (most < least || most - least >= candidatesMax) return [];
  return Array.from({ length: Number(most - least) + 1 }, (_, index) => least + BigInt(index));
}

export interface DifficultyPage extends ChainPage {
  /** Work for 1,000 work blocks now. */
  readonly workPerThousandBlocks: bigint;
  /** The difficulty before the first batch. */
  readonly initialWorkPerThousandBlocks: bigint;
  /** Difficulty after each event; null if the batches do not tell it. */
  readonly difficulties: readonly (bigint | null)[];
}

const settled = 'system.settlement_completed';

/** Reads a page of batches, newest first, with the difficulty after each. */
export async function readDifficultyPage(
  { chain, feed }: Pick<ActorViews, 'chain' | 'feed'>,
  request: ChainPageRequest,
  signal: AbortSignal,
): Promise<DifficultyPage | ChainUnavailable | FeedUnavailable | { readonly fault: 'undecodable' }> {
  const core = chain.core();
  if (core.status === 'unavailable') return core;
  const { configuration, workPerThousandBlocks } = core.core;
  if (configuration === null) throw new Error('the core is shown before it is configured');
  const page = await readChainPage(feed, settled, request, signal);
  if ('fault' in page || page.status === 'unavailable') return page;
  const [oldest] = page.events.slice(-1).flatMap(toSettlement);
  const previous = oldest?.previousSettledThroughRound ?? 0n;
  const isFirst = previous === 0n;
  // The batch before the page tells what its oldest batch has added.
  const earlier =
    previous === 0n ? null : await findEventsOfSpan(feed, 'settledRounds', [previous, previous], signal);
  if (earlier?.status === 'unavailable') return earlier;
  const [before] = earlier?.events.flatMap(toSettlement) ?? [];
  const { initialWorkPerThousandBlocks } = configuration;
  let units = isFirst ? 0n : (before?.cumulativeBlockUnits ?? null);
  const batches = page.events
    .toReversed()
    .flatMap(toSettlement)
    .map(({ activeRoundCount, workAdded, cumulativeBlockUnits }): DifficultyBatch => {
      const addedBlockUnits = units === null ? null : cumulativeBlockUnits - units;
      units = cumulativeBlockUnits;
      return { activeRoundCount, workAdded, addedBlockUnits };
    });
  const difficulties = findDifficulties(
    batches,
    isFirst ? initialWorkPerThousandBlocks : null,
    configuration,
  ).toReversed();
  return { ...page, workPerThousandBlocks, initialWorkPerThousandBlocks, difficulties };
}

function toSettlement({ event }: FeedItem) {
  return event.family === 'chain' && event.details.type === settled ? [event.details] : [];
}
