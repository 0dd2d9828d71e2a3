import type { Reading } from './acceptedReadings.ts';
import { measure } from './activityStatistics.ts';
import { type FeedEvent, listFeed } from './feed.ts';
import { dayMs, toIso } from './messages.ts';
import { type EconomyInput, measureActivity, measurePortfolio, showAvailable } from './mining.ts';
import { listEvents } from './safeChain.ts';
import type { Settlement } from './settlement.ts';
import { max } from './workToBlocks.ts';

/** Quantities of records and of their lists: each is found by looking through everything. */

export interface RecordInput extends EconomyInput {
  /** Accepted ones of the installation. */
  readonly readings: readonly Reading[];
  readonly settlement: Settlement;
}

/** Selects times from the first on, and before the second (epoch milliseconds). */
type IsIn = (timeMs: number) => boolean;

/** One record; null if there is none. */
export function measureRecord(input: RecordInput, kind: string, id: string): object | null {
  const feed = listFeed(input.safe, input.readings);
  const show = (members: object) => ({ ...showAvailable(input), ...members });
  switch (kind) {
    case 'events': {
      const event = feed.find((one) => one.id === id);
      return event === undefined ? null : show({ event });
    }
    case 'transactions':
      return show({ events: feed.filter(({ source }) => source.transactionHash === id).reverse() });
    case 'rounds':
      return show({ round: measureRound(input, feed, BigInt(id)) });
    default:
      return measureMiner(input, feed, BigInt(id));
  }
}

const selectType = (feed: readonly FeedEvent[], name: string) =>
  feed.filter(({ type }) => type.endsWith(`.${name}`));

/** A whole list of records. */
export function measureList(input: RecordInput, kind: string, isIn: IsIn): object {
  const feed = listFeed(input.safe, input.readings);
  const show = (members: object) => ({ ...showAvailable(input), ...members });
  const inTime = (events: readonly FeedEvent[]) =>
    events.filter(({ occurredAt }) => isIn(Date.parse(occurredAt)));
  switch (kind) {
    case 'batches': {
      const { batches, configuration } = input.core;
      const difficulties = [
        configuration.initialWorkPerThousandBlocks,
        ...batches.map(({ args }) => args.workPerThousandBlocks),
      ];
      const settlements = selectType(feed, 'settlement_completed').map((settlement, index) => ({
        ...settlement,
        workPerThousandBlocksBefore: difficulties[batches.length - index - 1],
        workPerThousandBlocksAfter: difficulties[batches.length - index],
      }));
      return show({ batches: inTime(settlements) });
    }
    case 'checkpoints':
      return show({ checkpoints: inTime(selectType(feed, 'mining_checkpointed')) });
    case 'rounds': {
      const newest = max(countBegun(input), input.core.settledThroughRound);
      const rounds = Array.from({ length: Number(newest) }, (_, index) => newest - BigInt(index));
      const inside = rounds.filter((round) => isIn(findStart(input, round)));
      return show({ rounds: inside.map((round) => measureRound(input, feed, round)) });
    }
    case 'miners': {
      const positions = [...input.economy.positions.values()].sort((a, b) => Number(a.tokenId - b.tokenId));
      const miners = positions.sort(byWeight).map(({ tokenId }) => showAlone(input, tokenId)?.positions[0]);
      return show({ miners, ...showMining(input) });
    }
    default: {
      const addresses = new Set([...input.economy.positions.values()].map(({ owner }) => owner));
      const owners = [...addresses]
        .sort()
        .map((address) => ({ address, ...measurePortfolio(input, address).summary }));
      return show({ owners: owners.sort(byWeight), ...showMining(input) });
    }
  }
}

const findStart = ({ core: { configuration } }: Pick<RecordInput, 'core'>, round: bigint) =>
  Number(configuration.genesisTimestamp + (round - 1n) * configuration.roundDuration) * 1000;

/** Number of rounds that have begun. */
function countBegun(input: RecordInput): bigint {
  const roundMs = Number(input.core.configuration.roundDuration) * 1000;
  return BigInt(Math.max(0, Math.floor((input.nowMs - findStart(input, 1n)) / roundMs) + 1));
}

function measureRound(input: RecordInput, feed: readonly FeedEvent[], round: bigint) {
  const { core, economy, settlement, nowMs } = input;
  const [startMs, endMs] = [findStart(input, round), findStart(input, round + 1n)];
  /** The event whose rounds are above one and through another. */
  const findAbout = (name: string, after: string, through: string) =>
    selectType(feed, name).find(
      ({ payload }) => (payload[after] as bigint) < round && round <= (payload[through] as bigint),
    ) ?? null;
  const findState = () => {
    if (round <= core.settledThroughRound) return 'settled';
    if (nowMs < startMs) return 'future';
    if (nowMs < endMs) return 'open';
    return settlement.closedRounds.has(round) ? 'closed' : 'ended';
  };
  const minted = economy.mintedRounds.slice(-42).find(({ roundId }) => roundId === round);
  return {
    roundId: round,
    startAt: toIso(startMs),
    endAt: toIso(endMs),
    state: findState(),
    settlement: findAbout('settlement_completed', 'previousSettledThroughRound', 'settledThroughRound'),
    checkpoint: findAbout('mining_checkpointed', 'afterRound', 'throughRound'),
    sqkMintedBaseUnits: minted?.amount ?? null,
  };
}

// Miners.

/** The portfolio of an owner who has only this token. */
function showAlone(input: EconomyInput, tokenId: bigint) {
  const position = input.economy.positions.get(tokenId);
  if (position === undefined) return null;
  const economy = { ...input.economy, positions: new Map([[tokenId, position]]) };
  return measurePortfolio({ ...input, economy }, position.owner);
}

function showMining(input: EconomyInput) {
  const { configuration, mining } = measurePortfolio(input, '');
  return { configuration, mining };
}

/** The heaviest first. */
const byWeight = (one: { activeWeight: bigint }, other: { activeWeight: bigint }) =>
  Number(other.activeWeight - one.activeWeight);

function measureMiner(input: EconomyInput, feed: readonly FeedEvent[], tokenId: bigint) {
  const isCreated = listEvents<{ tokenId: bigint }>(input.safe, 'collection', 'Transfer').some(
    ({ args }) => args.tokenId === tokenId,
  );
  if (!isCreated) return null;
  const alone = showAlone(input, tokenId);
  const position = alone?.positions[0] ?? null;
  const isAbout = ({ payload }: FeedEvent) =>
    ['tokenId', 'survivorTokenId', 'donorTokenId'].some((name) => payload[name] === tokenId) ||
    (payload.tokenIds as readonly bigint[] | undefined)?.includes(tokenId) === true;
  const merge = selectType(feed, 'miners_merged').find(({ payload }) => payload.donorTokenId === tokenId);
  const actions = position === null ? [] : measureActivity(input, position.owner).activity.slice(0, 25);
  return {
    ...showAvailable(input),
    ...showMining(input),
    tokenId,
    owner: position?.owner ?? null,
    position,
    earnings: alone?.earnings ?? null,
    mergedInto: merge?.payload.survivorTokenId ?? null,
    transfers: actions.filter(
      ({ kind, tokenIds }) => kind === 'transfer' && tokenIds.includes(String(tokenId)),
    ),
    events: feed.filter(isAbout).slice(0, 100),
  };
}

interface DayInput {
  readonly readings: readonly Reading[];
  readonly genesisMs: number;
  /** Whether events can be read. */
  readonly isReadable: boolean;
}

export function measureDayRecord({ isReadable, ...input }: DayInput, date: string, nowMs: number) {
  const start = Date.parse(`${date}T12:00:00Z`);
  const isIn = ({ occurredAt, recordedAt }: FeedEvent) =>
    Date.parse(occurredAt) >= start &&
    Date.parse(occurredAt) < start + dayMs &&
    Date.parse(recordedAt) < start + 2 * dayMs;
  return {
    startAt: toIso(start),
    endAt: toIso(start + dayMs),
    day: measure(input, nowMs).measureDay(start),
    events: isReadable ? listFeed(null, input.readings).filter(isIn) : null,
  };
}
