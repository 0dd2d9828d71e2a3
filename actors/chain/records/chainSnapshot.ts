import { Map as ImmutableMap, List } from 'immutable';
import { z } from 'zod';
import { compareArrivals, formatArrival } from '../../events/arrival.ts';
import { type ChainFeedEvent, chainFeedEvent } from '../../events/eventSchemas.ts';
import { evictedEvents } from '../../events/eventWindow.ts';
import {
  type FoldRecord,
  kindsOf,
  listBy,
  listByNumber,
  listFrom,
  listOne,
  listRecords,
  RecordRefused,
  type Restoration,
  restoreInto,
} from '../../folds/foldRecord.ts';
import { amount, count, milliseconds } from '../../schemas/stateScalars.ts';
import { emptySpanFoldState, type SpanFoldState, spanFoldScalars } from '../fold/spanFoldState.ts';
import { knownBlock } from '../spans/chainSpan.ts';
import { type ChainState, tokenState } from '../state/chainState.ts';
import { collectionScalars, type TokenMetadata, tokenMetadata } from '../state/collectionState.ts';
import { coreState, governance } from '../state/coreState.ts';
import { minerPosition, miningScalars } from '../state/miningState.ts';
import { pastOwnersText } from '../state/pastOwners.ts';
import {
  archive,
  type Checkpoint,
  checkpoint,
  mintedRound,
  type SettledRound,
  type Settlement,
  settledRound,
  settlement,
} from '../state/settlements.ts';
import { collectOwners, ownerActivity } from './collectOwners.ts';

interface CapturedChain {
  readonly state: SpanFoldState;
  readonly newestSpanAtMs: number | null;
}

const foldScalars = spanFoldScalars.extend({ newestSpanAtMs: milliseconds.nullable() });

/** The newest safe state without its keyed lists, which have kinds of records of their own. */
const stateScalars = z.strictObject({
  block: knownBlock,
  position: count,
  core: coreState,
  governance,
  mining: miningScalars,
  collection: collectionScalars,
  token: tokenState.nullable(),
  mintedRounds: z.array(mintedRound),
  activityRowsThroughBlock: amount.nullable(),
  archive,
  feed: z.strictObject({ evicted: evictedEvents }),
});

const createDraft = () => ({
  fold: [] as z.input<typeof foldScalars>[],
  scalars: [] as z.input<typeof stateScalars>[],
  settlements: new Map<number, Settlement>(),
  unprocessedRounds: [] as SettledRound[],
  checkpoints: new Map<number, Checkpoint>(),
  perWeightByDate: [] as { date: string; atEnd: bigint }[],
  perWeightAtActivation: new Map<string, bigint>(),
  pendingWeight: new Map<string, bigint>(),
  metadata: new Map<number, TokenMetadata>(),
  events: [] as ChainFeedEvent[],
  owners: collectOwners(),
  pastOwners: ImmutableMap<string, string>().asMutable(),
});
type ChainDraft = ReturnType<typeof createDraft>;

const foldKind = kindsOf<CapturedChain, ChainDraft>()('fold', foldScalars, {
  list: ({ state, newestSpanAtMs }) => listOne({ ...state, newestSpanAtMs }),
  restore: ({ fold }, one) => fold.push(one),
});

const define = kindsOf<ChainState, ChainDraft>();

/** Records of the newest safe state, if there is one. */
const stateKinds = [
  define('state', stateScalars, {
    list: ({ mintedRounds, activityProgress, ...state }) =>
      listOne({
        ...state,
        mintedRounds: mintedRounds.toArray(),
        activityRowsThroughBlock: activityProgress.rowsThroughBlock,
      }),
    restore: ({ scalars }, one) => scalars.push(one),
  }),
  // By number.
  define('settlement', settlement, {
    list: (state) => listFrom(state.archive.settlements.count, state.settlements),
    restore: ({ settlements }, one, number) => settlements.set(Number(number), one),
  }),
  // By round.
  define('unprocessedRound', settledRound, {
    list: ({ unprocessedRounds }) => listBy(({ roundId }) => roundId, unprocessedRounds),
    restore: ({ unprocessedRounds }, one) => unprocessedRounds.push(one),
  }),
  // By number.
  define('checkpoint', checkpoint, {
    list: (state) => listFrom(state.archive.checkpoints.count, state.checkpoints),
    restore: ({ checkpoints }, one, number) => checkpoints.set(Number(number), one),
  }),
  // `accumulatedPerWeight` at the end of a date, by date.
  define('perWeight', amount, {
    *list({ mining }) {
      for (const { date, atEnd } of mining.perWeightByDate) yield [date, atEnd];
    },
    restore: ({ perWeightByDate }, atEnd, date) => perWeightByDate.push({ date, atEnd }),
  }),
  // `accumulatedPerWeight` at the activation of a round, by round.
  define('activationPerWeight', amount, {
    list: ({ mining }) => mining.perWeightAtActivation,
    restore: ({ perWeightAtActivation }, one, round) => perWeightAtActivation.set(round, one),
  }),
  // By round.
  define('pendingWeight', amount, {
    list: ({ mining }) => mining.pendingWeight,
    restore: ({ pendingWeight }, one, round) => pendingWeight.set(round, one),
  }),
  // By token.
  define('metadata', tokenMetadata, {
    list: ({ collection }) => collection.metadata,
    restore: ({ metadata }, one, tokenId) => metadata.set(Number(tokenId), one),
  }),
  // By token.
  define('position', minerPosition, {
    list: ({ minerPositions }) => minerPositions,
    restore: ({ owners }, one) => owners.takePosition(one),
  }),
  define('feedEvent', chainFeedEvent, {
    list: ({ feed }) => listBy(formatArrival, feed.events),
    restore: ({ events }, one) => events.push(one),
  }),
  // By address.
  define('owner', ownerActivity, {
    *list({ owners }) {
      for (const [owner, { tokenIds: _, activity, ...totals }] of owners)
        yield [owner, { ...totals, activity: activity.toArray() }];
    },
    restore: ({ owners }, one, address) => owners.takeOwner(one, address),
  }),
  // By the beginning of the address.
  define('pastOwners', pastOwnersText, {
    list: ({ pastOwners }) => pastOwners,
    restore: ({ pastOwners }, text, beginning) => pastOwners.set(beginning, text),
  }),
];

export const chainKinds = [foldKind, ...stateKinds];
const restore = restoreInto<ChainDraft>(chainKinds);

/**
 * A fold's state as records. Only the newest safe state is written; an older one is recovered by folding on from an older snapshot. The
 * positions' owners give the tokens of each owner.
 */
export function* encodeSpanFold(captured: CapturedChain): Iterable<FoldRecord> {
  yield* foldKind.list(captured);
  const newest = captured.state.safe.at(-1);
  if (newest !== undefined) yield* listRecords(stateKinds, newest);
}

export interface ChainRestoration<Result> extends Restoration<Result> {
  /** Whether the newest safe state lies at or below a block; true without a safe state. */
  liesWithin(block: bigint): boolean;
}

/** Restores a fold from the records of {@link encodeSpanFold}. Without records it starts empty. */
export function createChainRestoration(): ChainRestoration<CapturedChain> {
  const draft = createDraft();
  let isEmpty = true;
  return {
    add: (record) => {
      isEmpty = false;
      restore(draft, record);
    },
    liesWithin: (block) => (draft.scalars[0]?.block.number ?? block) <= block,
    complete: () => {
      const [fold] = draft.fold;
      if (fold === undefined) {
        if (!isEmpty) throw new RecordRefused('a chain has records, but its fold has none');
        return { state: emptySpanFoldState, newestSpanAtMs: null };
      }
      const { newestSpanAtMs, ...rest } = fold;
      return { state: { ...rest, safe: buildStates(draft), forkStates: [] }, newestSpanAtMs };
    },
  };
}

/** The newest safe state; none without its record. */
function buildStates({ scalars: [scalars], owners, pastOwners, ...lists }: ChainDraft): ChainState[] {
  if (scalars === undefined) return [];
  const { mining, collection, mintedRounds, activityRowsThroughBlock, feed, ...rest } = scalars;
  const { settlements, checkpoints } = rest.archive;
  lists.unprocessedRounds.sort((a, b) => (a.roundId < b.roundId ? -1 : 1));
  lists.perWeightByDate.sort((a, b) => (a.date < b.date ? -1 : 1));
  lists.events.sort(compareArrivals);
  return [
    {
      ...rest,
      ...owners.complete(activityRowsThroughBlock),
      pastOwners: pastOwners.asImmutable(),
      settlements: List(listByNumber('settlement', lists.settlements, settlements.count)),
      unprocessedRounds: List(lists.unprocessedRounds),
      checkpoints: List(listByNumber('checkpoint', lists.checkpoints, checkpoints.count)),
      mintedRounds: List(mintedRounds),
      feed: { ...feed, events: List(lists.events) },
      mining: {
        ...mining,
        perWeightAtActivation: ImmutableMap(lists.perWeightAtActivation),
        pendingWeight: ImmutableMap(lists.pendingWeight),
        perWeightByDate: List(lists.perWeightByDate),
      },
      collection: { ...collection, metadata: ImmutableMap(lists.metadata) },
    },
  ];
}
