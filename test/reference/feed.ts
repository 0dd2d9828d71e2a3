import type { z } from 'zod';
import type { eventsResponse } from '../../http/responses/feed/events.ts';
import { type ChainEvent, type SafeChain, showPlace } from './chain.ts';
import { buildMeasurementEvents, type FeedEvent, measurementTypes } from './measurementFeed.ts';
import { opaque, toIso } from './messages.ts';
import { type EconomyInput, showAsset, showAvailable } from './mining.ts';
import type { Reading } from './readings.ts';
import { rememberFor } from './remember.ts';
import { blockUnitsPerBlock, describeCompleted } from './workToBlocks.ts';

/** CONTRACT.md, Event feed, Feed order and Event types. */

export type Category = 'all' | 'protocol' | 'players' | 'measurement';

const categories = {
  protocol: ['system.settlement_completed', 'system.mining_checkpointed'],
  players: ['player.miner_minted', 'player.miners_merged', 'player.rewards_claimed'],
  measurement: measurementTypes,
} as const;

interface FeedPage {
  readonly category: Category;
  readonly limit: number;
  /** ID of the last event of the page before; null for the first page. */
  readonly behind: string | null;
}

/** `readings` are the accepted ones of the installation. */
export function buildFeed(
  input: EconomyInput,
  readings: readonly Reading[],
  { category, limit, behind }: FeedPage,
): z.infer<typeof eventsResponse> {
  const types: readonly string[] =
    category === 'all' ? Object.values(categories).flat() : categories[category];
  const events = listFeed(input.safe, readings).filter(({ type }) => types.includes(type));
  const following = behind === null ? events : events.slice(events.findIndex(({ id }) => id === behind) + 1);
  const hasReadings = readings.length > 0;
  return {
    schemaVersion: 1,
    ...showAvailable(input),
    catalogVersion: 'public-activity-v2',
    category,
    // Measurements are a source once a reading was accepted.
    activeEventTypes: types.filter((type) => hasReadings || !type.startsWith('measurement.')) as never,
    events: following.slice(0, limit),
    nextCursor: following.length > limit ? opaque : null,
  };
}

/** All events, newest first; those of the readings without a chain. */
export const listFeed = (safe: SafeChain | null, readings: readonly Reading[]): FeedEvent[] =>
  [...(safe === null ? [] : listChainEvents(safe)), ...buildMeasurementEvents(readings)].sort(compare);

function compare(a: FeedEvent, b: FeedEvent): number {
  if (a.recordedAt !== b.recordedAt) return a.recordedAt < b.recordedAt ? 1 : -1;
  const [first, second] = [a.source, b.source];
  if (first.kind === 'chain' && second.kind === 'chain') {
    if (first.blockNumber !== second.blockNumber)
      return BigInt(first.blockNumber) < BigInt(second.blockNumber) ? 1 : -1;
    return second.transactionIndex - first.transactionIndex || second.logIndex - first.logIndex;
  }
  if (first.kind === 'measurement' && second.kind === 'measurement') {
    if (first.receiptCursor !== second.receiptCursor)
      return BigInt(first.receiptCursor) < BigInt(second.receiptCursor) ? 1 : -1;
    return a.id < b.id ? -1 : 1;
  }
  return first.kind === 'chain' ? -1 : 1;
}

const listChainEvents = rememberFor((safe: SafeChain): FeedEvent[] => {
  // The core's sums before a batch equal its sums after the previous batch.
  let unitsBefore = 0n;
  return safe.events.flatMap((event) => {
    const described = describe(safe, event, unitsBefore);
    if (event.name === 'BatchSettled') unitsBefore = event.args.cumulativeBlockUnits as unknown as bigint;
    return described === null ? [] : [showEvent(safe, event, described)];
  });
});

interface Described {
  readonly type: string;
  readonly payload: object;
}

function showEvent(
  { deployment }: SafeChain,
  { address, place, recordedAtMs }: ChainEvent,
  { type, payload }: Described,
) {
  const { chainId, target } = deployment.chain;
  const { blockTimestamp: occurredAt, ...at } = showPlace(place);
  return {
    id: `chain:${chainId}:${address}:${place.transactionHash}:${place.logIndex}:${type}`,
    type,
    eventVersion: 2,
    occurredAt,
    recordedAt: toIso(recordedAtMs),
    source: {
      kind: 'chain',
      chainId: String(chainId),
      target,
      releaseId: deployment.release.id,
      contractAddress: address,
      ...at,
      confirmationStatus: 'safe',
    },
    payload,
  } as FeedEvent;
}

/** Null for an event that the feed does not show. */
function describe(
  safe: SafeChain,
  { contract, name, args }: ChainEvent,
  unitsBefore: bigint,
): Described | null {
  const given = args as unknown as Readonly<Record<string, bigint>>;
  const take = (...names: string[]) => Object.fromEntries(names.map((one) => [one, String(given[one])]));
  switch (`${contract} ${name}`) {
    case 'core BatchSettled': {
      const height = (given.cumulativeBlockUnits as bigint) / blockUnitsPerBlock;
      const payload = {
        ...take('previousSettledThroughRound', 'settledThroughRound', 'activeRoundCount', 'workAdded'),
        ...describeCompleted(height - unitsBefore / blockUnitsPerBlock, height),
        ...take('cumulativeWork', 'cumulativeBlockUnits'),
        blockHeight: String(height),
      };
      return { type: 'system.settlement_completed', payload };
    }
    case 'mining Checkpointed': {
      const payload = {
        ...take(
          'afterRound',
          'throughRound',
          'completedBlockCount',
          'cumulativeWork',
          'cumulativeBlockUnits',
        ),
        amountBaseUnits: String(given.amount),
        asset: showAsset(safe),
      };
      return { type: 'system.mining_checkpointed', payload };
    }
    case 'mining PositionMinted':
      return {
        type: 'player.miner_minted',
        payload: take('owner', 'tokenId', 'weight', 'nextMergeBlock', 'firstRound'),
      };
    case 'mining PositionsMerged':
      return {
        type: 'player.miners_merged',
        payload: {
          ...take('owner', 'survivorTokenId', 'donorTokenId', 'nextMergeBlock', 'effectiveRound'),
          level: Number(given.level),
        },
      };
    case 'mining RewardsClaimed':
      return {
        type: 'player.rewards_claimed',
        payload: {
          ...take('owner'),
          tokenIds: (args.tokenIds as unknown as bigint[]).map(String),
          amountBaseUnits: String(given.amount),
          asset: showAsset(safe),
        },
      };
    default:
      return null;
  }
}
