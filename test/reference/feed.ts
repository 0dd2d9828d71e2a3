import type { z } from 'zod';
import type { eventsResponse } from '../../http/responses/feed/events.ts';
import { type ChainEvent, type SafeChain, showPlace } from './chain.ts';
import {
  buildMeasurementEvents,
  type EventExamples,
  type FeedEvent,
  measurementExamples,
} from './measurementFeed.ts';
import { opaque, toIso } from './messages.ts';
import { type EconomyInput, showAsset, showAvailable } from './mining.ts';
import type { Reading } from './readings.ts';
import { rememberFor } from './remember.ts';
import { blockUnitsPerBlock, describeCompleted } from './workToBlocks.ts';

/** CONTRACT.md, Event feed, Feed order and Event types. */

export type Category = 'all' | 'protocol' | 'players' | 'measurement';

const asset = { address: '0x2', symbol: 'A' } as const;

/** The types in their order in the contract. */
export const chainExamples: EventExamples<Extract<FeedEvent, { eventVersion: 2 }>['type']> = {
  'system.settlement_completed': [
    {
      previousSettledThroughRound: '999',
      settledThroughRound: '1005',
      workAdded: '4000',
      activeRoundCount: '1',
      completedBlockCount: '2',
      firstCompletedBlock: '1199',
      lastCompletedBlock: '1200',
      cumulativeWork: '9000',
      blockHeight: '1200',
      cumulativeBlockUnits: '1200000000001',
    },
    'Settled: Rounds 1,000 to 1,005: 4,000 work units in 1 round with work, 2 work blocks completed, up to 1,200.',
    '/rounds/1000 /rounds/1005',
  ],
  'system.mining_checkpointed': [
    {
      afterRound: '9',
      throughRound: '12',
      completedBlockCount: '3',
      cumulativeWork: '9000',
      amountBaseUnits: '15',
      asset: { ...asset, decimals: 1 },
      cumulativeBlockUnits: '1200000000001',
    },
    'Minted: 1.5 A were minted for 3 work blocks of rounds 10 to 12. Owners can claim their parts.',
    '/rounds/10 /rounds/12',
  ],
  'player.miner_minted': [
    { tokenId: '7', weight: '1000', nextMergeBlock: '9', firstRound: '2000', owner: '0x1' },
    'New miner: Miner 7 was created with weight 1,000 for 0x1. It earns from round 2,000.',
    '/miners/7 /owners/0x1 /rounds/2000',
  ],
  'player.miners_merged': [
    {
      donorTokenId: '7',
      survivorTokenId: '8',
      level: 3,
      nextMergeBlock: '9',
      effectiveRound: '2000',
      owner: '0x1',
    },
    'Merged: Miner 7 was merged into miner 8 of 0x1, which has level 3 from round 2,000.',
    '/miners/7 /miners/8 /owners/0x1 /rounds/2000',
  ],
  'player.rewards_claimed': [
    { tokenIds: ['7', '8'], amountBaseUnits: '123456', asset: { ...asset, decimals: 5 }, owner: '0x1' },
    'Claimed: 1.2345 A were paid to 0x1 for miners 7 and 8.',
    '/owners/0x1 /miners/7 /miners/8',
  ],
};

const chainTypes = Object.keys(chainExamples);
const categories = {
  protocol: chainTypes.filter((type) => type.startsWith('system.')),
  players: chainTypes.filter((type) => type.startsWith('player.')),
  measurement: Object.keys(measurementExamples),
};

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
  const types = category === 'all' ? Object.values(categories).flat() : categories[category];
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
