import { z } from 'zod';
import { decodeFields, encodeFields } from '../feed/opaqueCursor.ts';
import type { ActorViews } from './actorViews.ts';
import type { CoreView } from './chain/coreViews.ts';
import { computeRoundStartMs } from './chain/settlementHistory.ts';
import type { ChainUnavailable } from './chain/shownStates.ts';
import { type ChainPageRequest, findEventsOfSpan, isAbout } from './feed/feedRecords.ts';
import type { FeedUnavailable } from './feed/feedViews.ts';

/** `ended`: the oracle has not closed it yet. `closed`: it waits for settlement. */
export const roundStates = ['future', 'open', 'ended', 'closed', 'settled'] as const;
type RoundState = (typeof roundStates)[number];

/** Rounds, newest first. */
export type RoundsView = Extract<Awaited<ReturnType<typeof readRounds>>, { readonly status: 'available' }>;

const nothingFound = { status: 'available' as const, events: [] };

type Sources = Pick<ActorViews, 'chain' | 'feed' | 'process' | 'isClosed'>;

/** When rounds begin and end; null before the core is configured. */
function readCalendar(view: CoreView, nowMs: number) {
  const { core } = view;
  if (core.configuration === null) return null;
  const { genesisTimestamp, roundDuration } = core.configuration;
  const [genesisMs, roundMs] = [Number(genesisTimestamp) * 1000, Number(roundDuration) * 1000];
  const running = BigInt(Math.max(0, Math.floor((nowMs - genesisMs) / roundMs) + 1));
  return {
    /** The round that runs now, or the last settled one if that is later, as by a clock that is behind; 0 before the first. */
    newest: running > core.settledThroughRound ? running : core.settledThroughRound,
    /** Start of a round (epoch milliseconds). */
    findStart: (round: bigint) => computeRoundStartMs(view, round),
    /** The first round that begins at or after a time (epoch milliseconds). */
    findFirstFrom: (timeMs: number) => BigInt(Math.max(0, Math.ceil((timeMs - genesisMs) / roundMs))) + 1n,
  };
}

export type RoundPage = RoundsView & { readonly nextCursor: string | null };

/** The last round that a page has shown. */
const cursorFields = z.tuple([z.literal('rounds'), z.string().regex(/^[1-9]\d{0,15}$/)]);

/** Reads a page of the rounds that have begun, newest first. Its times are those at which rounds begin. */
export async function readRoundPage(
  views: Sources,
  { limit, cursor, fromMs, toMs }: ChainPageRequest,
  signal: AbortSignal,
): Promise<RoundPage | ChainUnavailable | FeedUnavailable | { readonly fault: 'undecodable' }> {
  const shown = cursor === null ? null : decodeFields(cursor, cursorFields);
  if (cursor !== null && shown === null) return { fault: 'undecodable' };
  const core = views.chain.core();
  if (core.status === 'unavailable') return core;
  const calendar = readCalendar(core, views.process().generatedAtMs);
  const ends = [
    calendar?.newest ?? 0n,
    ...(calendar === null || toMs === null ? [] : [calendar.findFirstFrom(toMs) - 1n]),
    ...(shown === null ? [] : [BigInt(shown[1]) - 1n]),
  ];
  const [last = 0n] = ends.toSorted((one, other) => (one < other ? -1 : 1));
  const oldest = calendar === null || fromMs === null ? 1n : calendar.findFirstFrom(fromMs);
  const full = last - BigInt(limit) + 1n;
  const first = full < oldest ? oldest : full;
  const view = await readRounds(views, [first, last], signal);
  if (view.status === 'unavailable') return view;
  return { ...view, nextCursor: first > oldest ? encodeFields(['rounds', String(first)]) : null };
}

/** Reads the rounds from the first through the last, newest first. Those that are settled are found in all of the history. */
export async function readRounds(
  { chain, feed, process, isClosed }: Sources,
  [first, last]: readonly [first: bigint, last: bigint],
  signal: AbortSignal,
) {
  const [economy, core, history] = [chain.economy(), chain.core(), chain.settlements('now')];
  if (economy.status === 'unavailable') return economy;
  if (core.status === 'unavailable') return core;
  if (history.status === 'unavailable') return history;
  const nowMs = process().generatedAtMs;
  const calendar = readCalendar(core, nowMs);
  if (calendar === null) throw new Error('the core is shown before it is configured');
  const { feed: _events, ...context } = economy;
  const { settledThroughRound } = core.core;
  const { recentRounds } = history;
  const count = last < first ? 0 : Number(last - first) + 1;
  const findEvents = (kind: 'settledRounds' | 'mintedRounds') =>
    count === 0 ? nothingFound : findEventsOfSpan(feed, kind, [first, last], signal);
  const [settled, minted] = await Promise.all([findEvents('settledRounds'), findEvents('mintedRounds')]);
  if (settled.status === 'unavailable') return settled;
  if (minted.status === 'unavailable') return minted;
  const describe = (roundId: bigint) => {
    const [startAtMs, endAtMs] = [calendar.findStart(roundId), calendar.findStart(roundId + 1n)];
    const state: RoundState =
      roundId <= settledThroughRound
        ? 'settled'
        : startAtMs > nowMs
          ? 'future'
          : endAtMs > nowMs
            ? 'open'
            : isClosed(roundId)
              ? 'closed'
              : 'ended';
    return {
      roundId,
      startAtMs,
      endAtMs,
      state,
      /** The event that settled it. */
      settlement: settled.events.find((item) => isAbout('settledRounds', item, roundId)) ?? null,
      /** The event that minted for it. */
      checkpoint: minted.events.find((item) => isAbout('mintedRounds', item, roundId)) ?? null,
      /** Reward token minted for it (base units); null if it is not among the newest rounds with minted rewards. */
      mintedBaseUnits: recentRounds?.find((one) => one.roundId === roundId)?.amountBaseUnits ?? null,
    };
  };
  return { ...context, rounds: Array.from({ length: count }, (_, at) => describe(last - BigInt(at))) };
}
