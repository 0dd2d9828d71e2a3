import type { FeedEvent } from '../page.ts';
import { count, formatExact, formatInteger, formatShort } from './numbers.ts';
import { describeDistance, describeSpeed } from './quantities.ts';
import { formatDate } from './times.ts';

interface EventWords {
  readonly title: string;
  readonly sentence: string;
  readonly owner: string | null;
}

type Type = FeedEvent['type'];
type Payload<Of extends Type> = Extract<FeedEvent, { readonly type: Of }>['payload'];

const words: { readonly [Of in Type]: (payload: Payload<Of>) => EventWords } = {
  'system.settlement_completed': (payload) => {
    const blocks =
      payload.completedBlockCount === '0'
        ? 'No block was completed by them'
        : `They completed ${count(payload.completedBlockCount, 'block')}, up to block ${formatInteger(payload.blockHeight)}`;
    const rounds = `Rounds ${formatInteger(String(BigInt(payload.previousSettledThroughRound) + 1n))} to ${formatInteger(payload.settledThroughRound)}`;
    return {
      title: 'Settled',
      sentence: `${rounds} are recorded on the chain: ${formatInteger(payload.workAdded)} work units in ${count(payload.activeRoundCount, 'round')} with work. ${blocks}.`,
      owner: null,
    };
  },
  'system.mining_checkpointed': (payload) => {
    const { asset } = payload;
    const rounds = `rounds ${formatInteger(String(BigInt(payload.afterRound) + 1n))} to ${formatInteger(payload.throughRound)}`;
    const blocks = `${count(payload.completedBlockCount, 'block')} of ${rounds}`;
    return {
      title: payload.amountBaseUnits === '0' ? 'Nothing minted' : 'Minted',
      sentence:
        payload.completedBlockCount === '0'
          ? `No block was completed in ${rounds}, so nothing was minted.`
          : payload.amountBaseUnits === '0'
            ? `Nothing was minted for ${blocks}: no miner counted in the rounds that completed them, or everything that can ever be minted had been.`
            : `${formatShort(payload.amountBaseUnits, asset.decimals, 2)} ${asset.symbol} were minted for ${blocks}. Owners can claim their parts.`,
      owner: null,
    };
  },
  'player.miner_minted': (payload) => ({
    title: 'New miner',
    sentence: `Miner ${payload.tokenId} was created with weight ${formatInteger(payload.weight)}. It earns from round ${formatInteger(payload.firstRound)} on.`,
    owner: payload.owner,
  }),
  'player.miners_merged': (payload) => ({
    title: 'Merged',
    sentence: `Miner ${payload.donorTokenId} was merged into miner ${payload.survivorTokenId}, which is of level ${payload.level} from round ${formatInteger(payload.effectiveRound)} on.`,
    owner: payload.owner,
  }),
  'player.rewards_claimed': (payload) => {
    const { asset } = payload;
    return {
      title: 'Claimed',
      sentence: `${formatShort(payload.amountBaseUnits, asset.decimals, 4)} ${asset.symbol} were paid out for ${count(String(payload.tokenIds.length), 'miner')}.`,
      owner: payload.owner,
    };
  },
  'measurement.distance_milestone': (payload) =>
    fromWheel('Distance', `The wheel has run ${distance(payload.thresholdDistanceMm)} in its life.`),
  'measurement.daily_distance_milestone': (payload) =>
    fromWheel(
      'Distance of a day',
      `The wheel has run ${distance(payload.thresholdDistanceMm)} on the day of ${formatDate(payload.utcDate)}.`,
    ),
  'measurement.speed_milestone': (payload) =>
    fromWheel(
      'Speed',
      `The wheel has reached ${speed(payload.thresholdSpeedMmPerSecond)} for the first time.`,
    ),
  'measurement.speed_record': (payload) => {
    const { recordMmPerSecond, previousRecordMmPerSecond } = payload;
    const before = previousRecordMmPerSecond === null ? '' : `, ${speed(previousRecordMmPerSecond)} before`;
    return fromWheel('Speed record', `The fastest so far: ${speed(recordMmPerSecond)}${before}.`);
  },
  'measurement.rpm_record': (payload) =>
    fromWheel('Record', `The most turns per minute so far: ${formatExact(payload.recordRpmMilli, 3)}.`),
  'measurement.distance_streak': (payload) =>
    fromWheel(
      'Streak',
      `${payload.days} days in a row with at least ${distance(payload.minimumDailyDistanceMm)}.`,
    ),
};

export const eventTypes = Object.keys(words) as readonly Type[];

/** Describes an event of the feed in words. An unknown type is shown by its name. */
export function describeEvent({ type, payload }: FeedEvent): EventWords {
  // The table has the words of each type for its payload, which the compiler cannot follow.
  const describe = words[type] as ((payload: unknown) => EventWords) | undefined;
  return describe?.(payload) ?? fromWheel('Event', `The service reports ${type}.`);
}

/** A block of the chain, which is not a block of work. */
export function nameChainBlock(blockNumber: string): string {
  return `chain block ${formatInteger(blockNumber)}`;
}

/** Names the origin of an event: a block of the chain, or an accepted reading. */
export function nameEventSource({ source }: FeedEvent): string {
  return source.kind === 'chain'
    ? nameChainBlock(source.blockNumber)
    : `reading ${formatInteger(source.receiptCursor)} of ${source.installationId}`;
}

/** Returns the family of an event's type, which decides the colour of its mark. */
export function nameFamily({ type }: FeedEvent): 'protocol' | 'players' | 'measurement' {
  if (type.startsWith('system.')) return 'protocol';
  return type.startsWith('player.') ? 'players' : 'measurement';
}

function fromWheel(title: string, sentence: string): EventWords {
  return { title, sentence, owner: null };
}

function distance(millimetres: string): string {
  const { value, unit } = describeDistance(millimetres);
  return `${value?.replace(/\.00$/, '')} ${unit}`;
}

function speed(millimetresPerSecond: string): string {
  const { value, unit } = describeSpeed(millimetresPerSecond);
  return `${value} ${unit}`;
}
