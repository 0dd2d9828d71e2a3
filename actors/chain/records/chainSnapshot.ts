import { Map as ImmutableMap, List } from 'immutable';
import { compareArrivals, formatArrival } from '../../events/arrival.ts';
import {
  collectRecords,
  dispatchRecords,
  type FoldRecord,
  RecordRefused,
  type Restoration,
} from '../../folds/foldRecord.ts';
import { emptySpanFoldState, type SpanFoldState } from '../fold/spanFoldState.ts';
import type { ChainState } from '../state/chainState.ts';
import { chainRecords } from './chainRecords.ts';
import { collectOwners } from './collectOwners.ts';

interface CapturedChain {
  readonly state: SpanFoldState;
  readonly newestSpanAtMs: number | null;
}

/**
 * A fold's state as records. Only the newest safe state is written; an older one is recovered by folding on from an older snapshot. The
 * positions' owners give the tokens of each owner.
 */
export function* encodeSpanFold(captured: CapturedChain): Iterable<FoldRecord> {
  yield* encodeScalars(captured);
  const state = captured.state.safe.at(-1);
  if (state === undefined) return;
  const { archive, mining } = state;
  for (const [index, one] of state.settlements.entries())
    yield chainRecords.settlement.write(archive.settlements.count + index, one);
  for (const one of state.unprocessedRounds) yield chainRecords.unprocessedRound.write(one.roundId, one);
  for (const [index, one] of state.checkpoints.entries())
    yield chainRecords.checkpoint.write(archive.checkpoints.count + index, one);
  for (const { date, atEnd } of mining.perWeightByDate) yield chainRecords.perWeight.write(date, atEnd);
  for (const [round, perWeight] of mining.perWeightAtActivation)
    yield chainRecords.activationPerWeight.write(round, perWeight);
  for (const [round, weight] of mining.pendingWeight) yield chainRecords.pendingWeight.write(round, weight);
  for (const [tokenId, one] of state.collection.metadata) yield chainRecords.metadata.write(tokenId, one);
  for (const one of state.minerPositions.values()) yield chainRecords.position.write(one.tokenId, one);
  for (const one of state.feed.events) yield chainRecords.feedEvent.write(formatArrival(one), one);
  for (const [owner, { activityCount, activity }] of state.owners)
    yield chainRecords.owner.write(owner, { activityCount, activity: activity.toArray() });
}

/** The records without a key: the fold, and its newest safe state. */
function* encodeScalars({ state: { safe, ...fold }, newestSpanAtMs }: CapturedChain): Iterable<FoldRecord> {
  yield chainRecords.fold.write('', { ...fold, newestSpanAtMs });
  const newest = safe.at(-1);
  if (newest === undefined) return;
  const { block, position, core, governance, token, archive, feed } = newest;
  const { perWeightAtActivation: _a, pendingWeight: _p, perWeightByDate: _d, ...mining } = newest.mining;
  const { metadata: _m, ...collection } = newest.collection;
  yield chainRecords.state.write('', {
    block,
    position,
    core,
    governance,
    mining,
    collection,
    token,
    mintedRounds: newest.mintedRounds.toArray(),
    activityRowsThroughBlock: newest.activityProgress.rowsThroughBlock,
    archive,
    feed: { run: feed.run, evicted: feed.evicted },
  });
}

export interface ChainRestoration<Result> extends Restoration<Result> {
  /** Whether the newest safe state lies at or below a block; true without a safe state. */
  liesWithin(block: bigint): boolean;
}

/** Restores a fold from the records of {@link encodeSpanFold}. Without records it starts empty. */
export function createChainRestoration(): ChainRestoration<CapturedChain> {
  const folds = collectRecords(chainRecords.fold);
  const states = collectRecords(chainRecords.state);
  const settlements = collectRecords(chainRecords.settlement);
  const unprocessedRounds = collectRecords(chainRecords.unprocessedRound);
  const checkpoints = collectRecords(chainRecords.checkpoint);
  const perWeights = collectRecords(chainRecords.perWeight);
  const activations = collectRecords(chainRecords.activationPerWeight);
  const pendingWeights = collectRecords(chainRecords.pendingWeight);
  const metadata = collectRecords(chainRecords.metadata);
  const feedEvents = collectRecords(chainRecords.feedEvent);
  const ofOwners = collectOwners();
  const add = dispatchRecords(
    folds,
    states,
    settlements,
    unprocessedRounds,
    checkpoints,
    perWeights,
    activations,
    pendingWeights,
    metadata,
    feedEvents,
    ...ofOwners.readers,
  );
  let isEmpty = true;

  function complete(): CapturedChain {
    const fold = folds.values.get('');
    if (fold === undefined) {
      if (!isEmpty) throw new RecordRefused('a chain has records, but its fold has none');
      return { state: emptySpanFoldState, newestSpanAtMs: null };
    }
    const { newestSpanAtMs, ...rest } = fold;
    const newest = buildState();
    return { state: { ...rest, safe: newest === null ? [] : [newest] }, newestSpanAtMs };
  }

  function buildState(): ChainState | null {
    const scalars = states.values.get('');
    if (scalars === undefined) return null;
    const { mining, collection, mintedRounds, activityRowsThroughBlock, feed, ...rest } = scalars;
    const events = [...feedEvents.values.values()].sort(compareArrivals);
    return {
      ...rest,
      ...ofOwners.complete(activityRowsThroughBlock),
      settlements: List(listByNumber('settlement', settlements.values, rest.archive.settlements.count)),
      unprocessedRounds: List(
        [...unprocessedRounds.values.values()].sort((a, b) => (a.roundId < b.roundId ? -1 : 1)),
      ),
      checkpoints: List(listByNumber('checkpoint', checkpoints.values, rest.archive.checkpoints.count)),
      mintedRounds: List(mintedRounds),
      feed: { ...feed, events: List(events) },
      mining: {
        ...mining,
        perWeightAtActivation: ImmutableMap(activations.values),
        pendingWeight: ImmutableMap(pendingWeights.values),
        perWeightByDate: List(
          [...perWeights.values]
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([date, atEnd]) => ({ date, atEnd })),
        ),
      },
      collection: {
        ...collection,
        metadata: ImmutableMap([...metadata.values].map(([tokenId, one]) => [Number(tokenId), one])),
      },
    };
  }

  return {
    add: (record) => {
      isEmpty = false;
      add(record);
    },
    liesWithin: (block) => (states.values.get('')?.block.number ?? block) <= block,
    complete,
  };
}

function listByNumber<Item>(what: string, values: ReadonlyMap<string, Item>, first: number): readonly Item[] {
  return Array.from(values, (_, index) => {
    const item = values.get(String(first + index));
    if (item === undefined) throw new RecordRefused(`${what} ${first + index} is missing`);
    return item;
  });
}
