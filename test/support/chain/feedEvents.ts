import fc from 'fast-check';
import { List } from 'immutable';
import type {
  ChainFeedDetails,
  ChainFeedEvent,
  MeasurementEvent,
} from '../../../actors/events/eventSchemas.ts';
import { type EventWindow, nothingEvicted } from '../../../actors/events/eventWindow.ts';
import { type FeedItem, toChainItem, toMeasurementItem } from '../../../actors/feed/feedItem.ts';
import { type Address, toAddress } from '../../../actors/schemas/hex.ts';
import { addAchievements, type MeasurementProgress } from '../../../actors/wheel/measurementEvents.ts';
import { acceptedReading } from '../readings/acceptedReading.ts';
import { buildBlockHash, buildTransactionHash } from './hashes.ts';

export const feedChainId = 31_337n;

/** Speeds, each a new record. */
export const recordStep = 56;

type Settled = Extract<ChainFeedDetails, { readonly type: 'system.settlement_completed' }>;

/** A settlement of one round with work, which completes no block; a test names what matters to it. */
export const settled = (given: Partial<Settled> = {}): Settled => ({
  type: 'system.settlement_completed',
  previousSettledThroughRound: 0n,
  settledThroughRound: 1n,
  activeRoundCount: 1n,
  workAdded: 1n,
  completedBlockCount: 0n,
  firstCompletedBlock: null,
  lastCompletedBlock: null,
  cumulativeWork: 1n,
  blockHeight: 0n,
  cumulativeBlockUnits: 1n,
  workPerThousandBlocksBefore: 1n,
  workPerThousandBlocksAfter: 1n,
  ...given,
});

export const checkpointed = {
  type: 'system.mining_checkpointed',
  afterRound: 0n,
  throughRound: 1n,
  completedBlockCount: 1n,
  cumulativeWork: 2n ** 200n,
  amountBaseUnits: 1n,
  cumulativeBlockUnits: 1n,
} as const;
export const minter = toAddress(`0x${'aa'.repeat(20)}`);

export const minted = {
  type: 'player.miner_minted',
  owner: toAddress(`0x${'bb'.repeat(20)}`),
  tokenId: 1n,
  weight: 1n,
  nextMergeBlock: 1n,
  firstRound: 1n,
} as const;

/** Spans in order of arrival: the delay in milliseconds, and the logs of each block that became safe, by transaction. */
export const spanHistory = (maxLength: number) =>
  fc.array(
    fc.record({
      gapMs: fc.nat(1),
      blocks: fc.array(fc.array(fc.array(fc.boolean(), { maxLength: 3 }), { maxLength: 2 }), {
        maxLength: 3,
      }),
    }),
    { maxLength, size: 'max' },
  );
type SpanHistory = ReturnType<typeof spanHistory> extends fc.Arbitrary<infer Value> ? Value : never;

/** Events of the chain in order of arrival. A log is a mint or a checkpoint. */
export function buildChainEvents(spans: SpanHistory, firstPosition = 1): ChainFeedEvent[] {
  const events: ChainFeedEvent[] = [];
  let recordedAtMs = 1_000;
  let blockNumber = 0n;
  for (const [at, { gapMs, blocks }] of spans.entries()) {
    recordedAtMs += gapMs;
    let ordinal = 0;
    for (const transactions of blocks) {
      blockNumber++;
      let logIndex = 0;
      for (const [transactionIndex, logs] of transactions.entries()) {
        // Unordered hashes, so that no order is right by chance.
        const transactionHash = buildTransactionHash(
          (blockNumber * 7_919n + BigInt(transactionIndex)) % 1_009n,
        );
        for (const isMint of logs) {
          events.push({
            family: 'chain',
            details: isMint ? minted : checkpointed,
            address: minter,
            source: {
              blockNumber,
              blockHash: buildBlockHash(blockNumber),
              blockTimestampMs: recordedAtMs,
              transactionHash,
              transactionIndex,
              logIndex: logIndex++,
            },
            recordedAtMs,
            position: firstPosition + at,
            ordinal: ordinal++,
          });
        }
      }
    }
  }
  return events;
}

/** Readings in order of arrival: their receipt by the gateway, and the number of distances they passed. */
export const readingHistory = (maxLength: number) =>
  fc.array(fc.record({ receivedAtMs: fc.nat(12), distances: fc.nat(3) }), { maxLength, size: 'max' });
type ReadingHistory = ReturnType<typeof readingHistory> extends fc.Arbitrary<infer Value> ? Value : never;

/** Events of readings in order of arrival: each a speed record, and some a few distances. */
export function buildMeasurementEvents(readings: ReadingHistory, firstPosition = 1): MeasurementEvent[] {
  let progress: MeasurementProgress | null = null;
  let distanceMm = 100_000_000;
  for (const [at, { receivedAtMs, distances }] of readings.entries()) {
    distanceMm += distances * 50_000_000;
    const position = firstPosition + at;
    const reading = acceptedReading({
      position,
      observedAtMs: 86_400_000,
      receivedAtMs: 1_000 + receivedAtMs,
      speedMmPerSecond: 3_000 + (at + 1) * recordStep,
      distanceMm,
    });
    progress = addAchievements(progress, reading, {
      dayMm: distanceMm,
      previousDayMm: 0,
      storedAtMs: position,
    });
  }
  return progress?.events.toArray() ?? [];
}

/** A source without evicted events. */
export function createWindow<Event extends MeasurementEvent | ChainFeedEvent>(
  events: Iterable<Event>,
): EventWindow<Event> {
  return { events: List(events), evicted: nothingEvicted };
}

/** A source's newest events, as if a share of the oldest had been evicted. */
export function evictShare<Event extends MeasurementEvent | ChainFeedEvent>(
  events: readonly Event[],
  share: number,
): { window: EventWindow<Event>; gone: readonly Event[] } {
  const gone = events.slice(0, Math.floor(events.length * share));
  const through = gone.at(-1);
  if (through === undefined) return { window: createWindow(events), gone };
  const throughMs = Math.max(
    ...gone.map((event) => ('recordedAtMs' in event ? event.recordedAtMs : event.receivedAtMs)),
  );
  return {
    window: {
      events: List(events.slice(gone.length)),
      evicted: { through, throughMs, atPosition: through.position },
    },
    gone,
  };
}

/** Events of both sources in the feed's order (CONTRACT.md). */
export function inFeedOrder(
  measurements: readonly MeasurementEvent[],
  chain: readonly ChainFeedEvent[],
): FeedItem[] {
  const items = [
    ...measurements.map(toMeasurementItem),
    ...chain.map((event) => toChainItem(feedChainId, event)),
  ];
  return items.sort((one, other) => {
    if (one.recordedAtMs !== other.recordedAtMs) return other.recordedAtMs - one.recordedAtMs;
    const [first, second] = [one.event, other.event];
    if (first.family !== second.family) return first.family === 'chain' ? -1 : 1;
    if (first.family === 'chain' && second.family === 'chain') {
      if (first.source.blockNumber !== second.source.blockNumber)
        return first.source.blockNumber < second.source.blockNumber ? 1 : -1;
      const byTransaction = second.source.transactionIndex - first.source.transactionIndex;
      return byTransaction || second.source.logIndex - first.source.logIndex;
    }
    return second.position - first.position || (one.id < other.id ? -1 : 1);
  });
}

export const namedOwners = [1, 2, 3].map((digit) => toAddress(`0x${String(digit).repeat(40)}`)) as [
  Address,
  Address,
  Address,
];

/** Mints, merges, claims and checkpoints of three owners and a few miners, several in each block and transaction. */
export function buildNamedEvents(count: number): ChainFeedEvent[] {
  const event = buildChainEvents([{ gapMs: 1, blocks: [[[false]]] }])[0] as ChainFeedEvent;
  return Array.from({ length: count }, (_unused, at) => {
    const owner = namedOwners[at % 3] as Address;
    const [miner, other] = [BigInt(1 + (at % 5)), BigInt(6 + (at % 7))];
    const merge = { level: 2, nextMergeBlock: 1n, effectiveRound: 1n };
    const details = [
      { ...minted, owner, tokenId: miner },
      { type: 'player.miners_merged', owner, survivorTokenId: miner, donorTokenId: other, ...merge },
      { type: 'player.rewards_claimed', owner, tokenIds: [miner, other], amountBaseUnits: 1n },
      checkpointed,
    ][at % 4] as ChainFeedDetails;
    return {
      ...event,
      details,
      recordedAtMs: 1_000 + Math.floor(at / 6),
      position: Math.floor(at / 6) + 1,
      ordinal: at % 6,
      source: {
        ...event.source,
        blockNumber: BigInt(Math.floor(at / 4)),
        transactionHash: buildTransactionHash(1 + Math.floor(at / 2)),
        transactionIndex: Math.floor(at / 2) % 2,
        logIndex: at % 2,
      },
    };
  });
}
