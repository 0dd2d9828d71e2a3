import type { FeedEvent } from '../page.ts';
import { count, formatExact, formatInteger, formatShort } from './numbers.ts';
import { describeDistance, describeSpeed } from './quantities.ts';
import { listLinks, type Sentence, say, toDay, toMiner, toOwner, toRound, toStart } from './sentence.ts';

interface EventWords {
  readonly title: string;
  readonly sentence: Sentence;
}

type Type = FeedEvent['type'];
type Payload<Of extends Type> = Extract<FeedEvent, { readonly type: Of }>['payload'];

const words: { readonly [Of in Type]: (payload: Payload<Of>) => EventWords } = {
  'system.settlement_completed': (payload) => {
    const rounds = nameRounds(payload.previousSettledThroughRound, payload.settledThroughRound);
    if (payload.workAdded === '0')
      return { title: 'Settled', sentence: say`Rounds ${rounds}, without work.` };
    const blocks =
      payload.completedBlockCount === '0'
        ? 'no work block completed'
        : say`${count(payload.completedBlockCount, 'work block')} completed, up to ${formatInteger(payload.blockHeight)}`;
    return {
      title: 'Settled',
      sentence: say`Rounds ${rounds}: ${formatInteger(payload.workAdded)} work units in ${count(payload.activeRoundCount, 'round')} with work, ${blocks}.`,
    };
  },
  'system.mining_checkpointed': (payload) => {
    const { asset, completedBlockCount } = payload;
    const rounds = nameRounds(payload.afterRound, payload.throughRound);
    const blocks = count(completedBlockCount, 'work block');
    return {
      title: payload.amountBaseUnits === '0' ? 'Nothing minted' : 'Minted',
      sentence:
        completedBlockCount === '0'
          ? say`Rounds ${rounds} completed no work block.`
          : payload.amountBaseUnits === '0'
            ? say`Nothing was minted for ${blocks} of rounds ${rounds}: no miner was active in those rounds, or the maximum supply had been minted.`
            : say`${formatShort(payload.amountBaseUnits, asset.decimals, 2)} ${asset.symbol} were minted for ${blocks} of rounds ${rounds}. Owners can claim their parts.`,
    };
  },
  'player.miner_minted': ({ tokenId, weight, firstRound, owner }) => ({
    title: 'New miner',
    sentence: say`Miner ${toMiner(tokenId)} was created with weight ${formatInteger(weight)} for ${toOwner(owner)}. It earns from round ${toStart(firstRound)}.`,
  }),
  'player.miners_merged': ({ donorTokenId, survivorTokenId, level, effectiveRound, owner }) => ({
    title: 'Merged',
    sentence: say`Miner ${toMiner(donorTokenId)} was merged into miner ${toMiner(survivorTokenId)} of ${toOwner(owner)}, which has level ${level} from round ${toStart(effectiveRound)}.`,
  }),
  'player.rewards_claimed': ({ asset, amountBaseUnits, tokenIds, owner }) => ({
    title: 'Claimed',
    sentence: say`${formatShort(amountBaseUnits, asset.decimals, 4)} ${asset.symbol} were paid to ${toOwner(owner)} for ${nameMiners(tokenIds)}.`,
  }),
  'measurement.distance_milestone': (payload) => ({
    title: 'Distance',
    sentence: say`The wheel has run ${distance(payload.thresholdDistanceMm)} in total.`,
  }),
  'measurement.daily_distance_milestone': (payload) => ({
    title: 'Distance of a day',
    sentence: say`The wheel has run ${distance(payload.thresholdDistanceMm)} on the day of ${toDay(payload.utcDate)}.`,
  }),
  'measurement.speed_milestone': (payload) => ({
    title: 'Speed',
    sentence: say`The wheel has reached ${speed(payload.thresholdSpeedMmPerSecond)} for the first time.`,
  }),
  'measurement.speed_record': ({ recordMmPerSecond, previousRecordMmPerSecond }) => {
    const before = previousRecordMmPerSecond === null ? '' : `, ${speed(previousRecordMmPerSecond)} before`;
    return {
      title: 'Speed record',
      sentence: say`The fastest so far: ${speed(recordMmPerSecond)}${before}.`,
    };
  },
  'measurement.rpm_record': (payload) => ({
    title: 'Record',
    sentence: say`The most turns per minute so far: ${formatExact(payload.recordRpmMilli, 3)}.`,
  }),
  'measurement.distance_streak': ({ days, minimumDailyDistanceMm, endingUtcDate }) => ({
    title: 'Streak',
    sentence: say`${days} days in a row with at least ${distance(minimumDailyDistanceMm)}, the last on ${toDay(endingUtcDate)}.`,
  }),
};

export const eventTypes = Object.keys(words) as readonly Type[];

/** Whether a batch settled no work, or a mint minted nothing. */
const isEmpty = ({ type, payload }: FeedEvent) =>
  (type === 'system.settlement_completed' && payload.workAdded === '0') ||
  (type === 'system.mining_checkpointed' && payload.completedBlockCount === '0');

/** Splits events into runs: several empty batches in a row, with empty mints between them, are one; every other event is its own. */
export function foldEvents(events: readonly FeedEvent[]): FeedEvent[][] {
  const runs: FeedEvent[][] = [];
  for (const event of events) {
    const last = runs.at(-1);
    if (last !== undefined && [last.at(-1), event].every((one) => one !== undefined && isEmpty(one)))
      last.push(event);
    else runs.push([event]);
  }
  return runs.flatMap((run) => {
    const batches = run.filter(({ type }) => type === 'system.settlement_completed');
    return batches.length > 1 ? [run] : run.map((event) => [event]);
  });
}

/** Describes an event of the feed in words. An unknown type is shown by its name. */
export function describeEvent({ type, payload }: FeedEvent): EventWords {
  // The table has the words of each type for its payload, which the compiler cannot follow.
  const describe = words[type] as ((payload: unknown) => EventWords) | undefined;
  return describe?.(payload) ?? { title: 'Event', sentence: say`The service reports ${type}.` };
}

export function nameEventSource({ source }: FeedEvent): string {
  return source.kind === 'chain'
    ? `chain block ${formatInteger(source.blockNumber)}`
    : `reading ${formatInteger(source.receiptCursor)} of ${source.installationId}`;
}

/** A stage of work, whose colour marks its events and charts. */
export type Tone = 'measured' | 'settled' | 'issued';

export function findTone({ type }: FeedEvent): Tone {
  if (type === 'system.settlement_completed') return 'settled';
  return type.startsWith('measurement.') ? 'measured' : 'issued';
}

/** Rounds after one through another, such as `7 to 9`. */
export function nameRounds(after: string, through: string): Sentence {
  return say`${toRound(String(BigInt(after) + 1n))} to ${toRound(through)}`;
}

/** More miners are folded. */
const minersMax = 6;

export function nameMiners(tokenIds: readonly string[]): Sentence {
  const all = listLinks(tokenIds.map(toMiner));
  return tokenIds.length > minersMax
    ? [{ text: `${tokenIds.length} miners`, all }]
    : say`${tokenIds.length === 1 ? 'miner' : 'miners'} ${all}`;
}

function distance(millimetres: string): string {
  const { value, unit } = describeDistance(millimetres);
  return `${value?.replace(/\.00$/, '')}\u00a0${unit}`;
}

function speed(millimetresPerSecond: string): string {
  const { value, unit } = describeSpeed(millimetresPerSecond);
  return `${value}\u00a0${unit}`;
}
