import type { z } from 'zod';
import type { dayResponse } from '../../http/responses/records/day.ts';
import type { minerResponse } from '../../http/responses/records/miners.ts';
import type { roundResponse } from '../../http/responses/records/rounds.ts';
import { listEvents } from './chain.ts';
import { listFeed } from './feed.ts';
import type { FeedEvent } from './measurementFeed.ts';
import { dayMs, opaque, toIso } from './messages.ts';
import { buildActivity, buildPortfolio, type EconomyInput, showAvailable } from './mining.ts';
import type { Reading } from './readings.ts';
import type { Settlement } from './settlement.ts';
import { buildDay } from './statistics.ts';

/** Bodies of records and of their lists: each is found by looking through everything. */

type Available<Schema extends z.ZodType> = Extract<z.infer<Schema>, { status: 'available' }>;
type Event<Type> = Extract<FeedEvent, { type: Type }>;

export interface RecordInput extends EconomyInput {
  /** Accepted ones of the installation. */
  readonly readings: readonly Reading[];
  readonly settlement: Settlement;
}

interface ListPage {
  readonly limit: number;
  /** Name of the last item of the page before; null for the first page. */
  readonly behind: string | null;
  /** First time, and time behind the last one (epoch milliseconds). */
  readonly fromMs: number;
  readonly toMs: number;
}

/** Body of one record; null if there is none. */
export function buildRecord(input: RecordInput, kind: string, id: string): object | null {
  const feed = listFeed(input.safe, input.readings);
  const ofBlocks = feed.filter(
    ({ source }) => source.kind === 'chain',
  ) as Event<`${'system' | 'player'}.${string}`>[];
  const show = (members: object) => ({ schemaVersion: 1, ...showAvailable(input), ...members });
  switch (kind) {
    case 'events': {
      const event = feed.find((one) => one.id === id);
      return event === undefined ? null : show({ event });
    }
    case 'transactions':
      return show({
        transactionHash: id,
        events: ofBlocks.filter(({ source }) => source.transactionHash === id).reverse(),
      });
    case 'rounds':
      return show({ round: describeRound(input, feed, BigInt(id)) });
    default:
      return buildMiner(input, feed, BigInt(id));
  }
}

const selectType = <Type extends FeedEvent['type']>(feed: readonly FeedEvent[], type: Type) =>
  feed.filter((event): event is Event<Type> => event.type === type);

/** Body of a page of a list. */
export function buildList(input: RecordInput, kind: string, page: ListPage): object {
  const { limit, behind, fromMs, toMs } = page;
  const feed = listFeed(input.safe, input.readings);
  const isIn = (timeMs: number) => timeMs >= fromMs && timeMs < toMs;
  const cut = <Item>(
    items: readonly Item[],
    nameOf: (item: Item) => string,
    show: (item: Item) => object,
  ) => {
    const following = behind === null ? items : items.slice(items.map(nameOf).indexOf(behind) + 1);
    const nextCursor = following.length > limit ? opaque : null;
    return {
      schemaVersion: 1,
      ...showAvailable(input),
      [kind]: following.slice(0, limit).map(show),
      nextCursor,
    };
  };
  switch (kind) {
    case 'batches': {
      const { batches, configuration } = input.core;
      const difficulties = [
        configuration.initialWorkPerThousandBlocks,
        ...batches.map(({ args }) => args.workPerThousandBlocks),
      ].map(String);
      const settlements = selectType(feed, 'system.settlement_completed').filter(({ occurredAt }) =>
        isIn(Date.parse(occurredAt)),
      );
      const show = (settlement: (typeof settlements)[number]) => {
        const index = batches.findIndex(
          ({ args }) => String(args.settledThroughRound) === settlement.payload.settledThroughRound,
        );
        return {
          ...settlement,
          workPerThousandBlocksBefore: difficulties[index],
          workPerThousandBlocksAfter: difficulties[index + 1],
        };
      };
      return cut(settlements, ({ id }) => id, show);
    }
    case 'checkpoints': {
      const minted = selectType(feed, 'system.mining_checkpointed').filter(({ occurredAt }) =>
        isIn(Date.parse(occurredAt)),
      );
      return cut(
        minted,
        ({ id }) => id,
        (event) => event,
      );
    }
    case 'rounds': {
      const newest = max(countBegun(input), input.core.settledThroughRound);
      const rounds = Array.from({ length: Number(newest) }, (_, index) => newest - BigInt(index));
      return cut(
        rounds.filter((round) => isIn(findStart(input, round))),
        String,
        (round) => describeRound(input, feed, round),
      );
    }
    case 'miners': {
      const positions = [...input.economy.positions.values()].sort((a, b) => Number(a.tokenId - b.tokenId));
      const show = ({ tokenId, owner }: (typeof positions)[number]) => ({
        ...showAlone(input, tokenId)?.positions[0],
        owner,
      });
      return {
        ...cut(positions.sort(byWeight), ({ tokenId }) => String(tokenId), show),
        ...showMining(input),
      };
    }
    default: {
      const addresses = new Set([...input.economy.positions.values()].map(({ owner }) => owner));
      const owners = [...addresses].sort().map((address) => {
        const { positionCount, activeWeight, targetWeight } = buildPortfolio(input, {
          owner: address,
          ...all,
        }).summary;
        return { address, positionCount, activeWeight: BigInt(activeWeight), targetWeight };
      });
      const show = (owner: (typeof owners)[number]) => ({
        ...owner,
        activeWeight: String(owner.activeWeight),
      });
      return { ...cut(owners.sort(byWeight), ({ address }) => address, show), ...showMining(input) };
    }
  }
}

const max = (one: bigint, other: bigint) => (one > other ? one : other);
const findStart = ({ core: { configuration } }: Pick<RecordInput, 'core'>, round: bigint) =>
  Number(configuration.genesisTimestamp + (round - 1n) * configuration.roundDuration) * 1000;

/** Number of rounds that have begun. */
export function countBegun(input: Pick<RecordInput, 'core' | 'nowMs'>): bigint {
  const roundMs = Number(input.core.configuration.roundDuration) * 1000;
  return BigInt(Math.max(0, Math.floor((input.nowMs - findStart(input, 1n)) / roundMs) + 1));
}

type Round = Available<typeof roundResponse>['round'];

function describeRound(input: RecordInput, feed: readonly FeedEvent[], round: bigint): Round {
  const { core, economy, settlement, nowMs } = input;
  const [startMs, endMs] = [findStart(input, round), findStart(input, round + 1n)];
  const isIn = (after: string, through: string) => BigInt(after) < round && round <= BigInt(through);
  const settled = selectType(feed, 'system.settlement_completed').find(({ payload }) =>
    isIn(payload.previousSettledThroughRound, payload.settledThroughRound),
  );
  const checkpoint = selectType(feed, 'system.mining_checkpointed').find(({ payload }) =>
    isIn(payload.afterRound, payload.throughRound),
  );
  const minted = economy.mintedRounds.slice(-42).find(({ roundId }) => roundId === round);
  const findState = (): Round['state'] => {
    if (round <= core.settledThroughRound) return 'settled';
    if (nowMs < startMs) return 'future';
    if (nowMs < endMs) return 'open';
    return settlement.closedRounds.has(round) ? 'closed' : 'ended';
  };
  return {
    roundId: String(round),
    startAt: toIso(startMs),
    endAt: toIso(endMs),
    state: findState(),
    settlement: settled ?? null,
    checkpoint: checkpoint ?? null,
    sqkMintedBaseUnits: minted === undefined ? null : String(minted.amount),
  };
}

// Miners.

const all = { limit: Number.MAX_SAFE_INTEGER, behind: null };

/** The portfolio of an owner who has only this token. */
function showAlone(input: EconomyInput, tokenId: bigint) {
  const position = input.economy.positions.get(tokenId);
  if (position === undefined) return null;
  const economy = { ...input.economy, positions: new Map([[tokenId, position]]) };
  return buildPortfolio({ ...input, economy }, { owner: position.owner, ...all });
}

function showMining(input: EconomyInput) {
  const { configuration, mining } = buildPortfolio(input, { owner: '', ...all });
  return { configuration, mining };
}

/** The heaviest first. */
const byWeight = (one: { activeWeight: bigint }, other: { activeWeight: bigint }) =>
  Number(other.activeWeight - one.activeWeight);

/** Whether a token was ever created. */
export const isCreated = ({ safe }: Pick<EconomyInput, 'safe'>, tokenId: bigint) =>
  listEvents<{ tokenId: bigint }>(safe, 'collection', 'Transfer').some(
    ({ args }) => args.tokenId === tokenId,
  );

function buildMiner(input: EconomyInput, feed: readonly FeedEvent[], tokenId: bigint) {
  if (!isCreated(input, tokenId)) return null;
  const alone = showAlone(input, tokenId);
  const id = String(tokenId);
  const isAbout = ({ payload }: FeedEvent) =>
    ['tokenId', 'survivorTokenId', 'donorTokenId'].some(
      (name) => (payload as Record<string, unknown>)[name] === id,
    ) ||
    ('tokenIds' in payload && payload.tokenIds.includes(id));
  const merge = selectType(feed, 'player.miners_merged').find(({ payload }) => payload.donorTokenId === id);
  const actions =
    alone === null ? [] : buildActivity(input, { owner: alone.owner, limit: 100, behind: null }).activity;
  return {
    schemaVersion: 1,
    ...showAvailable(input),
    ...showMining(input),
    tokenId: id,
    owner: alone?.owner ?? null,
    position: alone?.positions[0] ?? null,
    earnings: alone?.earnings ?? null,
    mergedInto: merge?.payload.survivorTokenId ?? null,
    transfers: actions.filter(({ kind, tokenIds }) => kind === 'transfer' && tokenIds.includes(id)),
    events: feed.filter(isAbout).slice(0, 100),
  } satisfies Available<typeof minerResponse>;
}

interface DayInput {
  readonly installationId: string;
  readonly readings: readonly Reading[];
  readonly genesisMs: number;
  /** Whether events can be read. */
  readonly isReadable: boolean;
}

export function buildDayRecord(
  { isReadable, installationId, ...input }: DayInput,
  date: string,
  nowMs: number,
): z.infer<typeof dayResponse> {
  const start = Date.parse(`${date}T12:00:00Z`);
  const isIn = ({ occurredAt, recordedAt }: FeedEvent) =>
    Date.parse(occurredAt) >= start &&
    Date.parse(occurredAt) < start + dayMs &&
    Date.parse(recordedAt) < start + 2 * dayMs;
  return {
    schemaVersion: 1,
    installationId,
    date,
    startAt: toIso(start),
    endAt: toIso(start + dayMs),
    day: buildDay(input, start, nowMs),
    events: isReadable ? listFeed(null, input.readings).filter(isIn) : null,
  };
}
