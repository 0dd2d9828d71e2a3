import type { Reading } from './acceptedReadings.ts';
import { buildMeasurementEvents } from './measurementFeed.ts';
import { toIso } from './messages.ts';
import { rememberFor } from './remember.ts';
import type { ChainEvent, EventPlace, SafeChain } from './safeChain.ts';
import { blockUnitsPerBlock, describeCompleted } from './workToBlocks.ts';

/** CONTRACT.md, Event feed, Feed order and Event types. */

export interface FeedEvent {
  readonly id: string;
  readonly type: string;
  readonly occurredAt: string;
  readonly recordedAt: string;
  /** A place on the chain, or the receipt of a reading. */
  readonly source: EventSource;
  readonly payload: Readonly<Record<string, unknown>>;
}

interface EventSource extends Partial<EventPlace> {
  readonly receiptCursor?: string;
}

const prefixes = { all: '', protocol: 'system.', players: 'player.', measurement: 'measurement.' };
export type Category = keyof typeof prefixes;

/** All events of a category, newest first; those of the readings without a chain. */
export const listFeed = (
  safe: SafeChain | null,
  readings: readonly Reading[],
  category: Category = 'all',
): FeedEvent[] =>
  [...(safe === null ? [] : listChainEvents(safe)), ...buildMeasurementEvents(readings)]
    .filter(({ type }) => type.startsWith(prefixes[category]))
    .sort(compare);

function compare(a: FeedEvent, b: FeedEvent): number {
  if (a.recordedAt !== b.recordedAt) return a.recordedAt < b.recordedAt ? 1 : -1;
  const [first, second] = [a.source, b.source];
  const isOfChain = (source: EventSource) => source.receiptCursor === undefined;
  if (isOfChain(first) !== isOfChain(second)) return isOfChain(first) ? -1 : 1;
  const order = (read: (source: EventSource) => string | bigint | number | undefined) =>
    Number(read(second) ?? 0) - Number(read(first) ?? 0);
  return (
    order(({ receiptCursor }) => receiptCursor) ||
    order(({ blockNumber }) => blockNumber) ||
    order(({ transactionIndex }) => transactionIndex) ||
    order(({ logIndex }) => logIndex) ||
    (a.id < b.id ? -1 : 1)
  );
}

const listChainEvents = rememberFor((safe: SafeChain): FeedEvent[] => {
  // The core's sums before a batch equal its sums after the previous batch.
  let unitsBefore = 0n;
  return safe.events.flatMap((event) => {
    const described = describe(event, unitsBefore);
    if (event.name === 'BatchSettled') unitsBefore = event.args.cumulativeBlockUnits as unknown as bigint;
    return described === null ? [] : [showEvent(safe, event, described)];
  });
});

interface Described {
  readonly type: string;
  readonly payload: FeedEvent['payload'];
}

function showEvent(
  { deployment }: SafeChain,
  { address, place, recordedAtMs }: ChainEvent,
  { type, payload }: Described,
): FeedEvent {
  return {
    id: `chain:${deployment.chain.chainId}:${address}:${place.transactionHash}:${place.logIndex}:${type}`,
    type,
    occurredAt: place.blockTimestamp,
    recordedAt: toIso(recordedAtMs),
    source: place,
    payload,
  };
}

/** Null for an event that the feed does not show. */
function describe({ contract, name, args }: ChainEvent, unitsBefore: bigint): Described | null {
  const { cumulativeBlockUnits, amount } = args as unknown as Readonly<Record<string, bigint>>;
  switch (`${contract} ${name}`) {
    case 'core BatchSettled': {
      const blockHeight = (cumulativeBlockUnits as bigint) / blockUnitsPerBlock;
      const completed = describeCompleted(blockHeight - unitsBefore / blockUnitsPerBlock, blockHeight);
      return { type: 'system.settlement_completed', payload: { ...args, ...completed, blockHeight } };
    }
    case 'mining Checkpointed':
      return { type: 'system.mining_checkpointed', payload: { ...args, amountBaseUnits: amount } };
    case 'mining PositionMinted':
      return { type: 'player.miner_minted', payload: args };
    case 'mining PositionsMerged':
      return { type: 'player.miners_merged', payload: args };
    case 'mining RewardsClaimed':
      return { type: 'player.rewards_claimed', payload: { ...args, amountBaseUnits: amount } };
    default:
      return null;
  }
}
