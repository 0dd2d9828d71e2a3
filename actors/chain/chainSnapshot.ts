import { Map as ImmutableMap, List } from 'immutable';
import { parse, stringify } from '../bigintJson.ts';
import type { EvictedEvents } from '../feed/eventWindow.ts';
import { type ChainFoldState, emptyChainFoldState } from './chainFold.ts';
import type {
  ChainFeedEvent,
  ChainState,
  Checkpoint,
  OwnerEvent,
  Position,
  Settlement,
  TokenMetadata,
} from './chainState.ts';

/** Entries of one line. */
const entriesPerLine = 500;

/**
 * A fold's state as lines of JSON. Of the safe states the newest alone is written: the others come back by folding on
 * from an older snapshot.
 */
export function* encodeChainFold(state: ChainFoldState, newestSpanAtMs: number | null): Iterable<string> {
  const { safe, ...rest } = state;
  const newest = safe.at(-1) ?? null;
  yield stringify({ ...rest, newestSpanAtMs, safeBlock: newest?.block.number ?? null });
  if (newest === null) return;
  const {
    settlements,
    unprocessedRounds,
    checkpoints,
    mintedRounds,
    positions,
    owners,
    mining,
    collection,
    feed,
    ...scalars
  } = newest;
  const { perWeightAtActivation, pendingWeight, perWeightByDate, ...miningScalars } = mining;
  const { metadata, ...collectionScalars } = collection;
  yield stringify({
    ...scalars,
    mining: miningScalars,
    collection: collectionScalars,
    feedRun: feed.run,
    givenUpEvents: feed.evicted,
  });
  yield* encodeList('settlements', settlements);
  yield* encodeList('unprocessedRounds', unprocessedRounds);
  yield* encodeList('checkpoints', checkpoints);
  yield* encodeList('mintedRounds', mintedRounds);
  yield* encodeList('perWeightByDate', perWeightByDate);
  yield* encodeList('perWeightAtActivation', perWeightAtActivation.entries());
  yield* encodeList('pendingWeight', pendingWeight.entries());
  yield* encodeList('metadata', metadata.entries());
  yield* encodeList('positions', positions.values());
  yield* encodeList('feed', feed.events);
  for (const [owner, { tokenIds, activity }] of owners) {
    yield stringify({ owner, tokenIds });
    yield* encodeList('activity', activity);
  }
}

export function decodeChainFold(lines: Iterable<string>): {
  state: ChainFoldState;
  newestSpanAtMs: number | null;
} {
  const [head, scalars, ...entries] = lines;
  if (head === undefined) return { state: emptyChainFoldState, newestSpanAtMs: null };
  const {
    newestSpanAtMs,
    safeBlock: _safeBlock,
    ...rest
  } = parse(head) as Omit<ChainFoldState, 'safe'> & {
    newestSpanAtMs: number | null;
    safeBlock: bigint | null;
  };
  const safe = scalars === undefined ? [] : [buildChainState(parse(scalars) as never, entries)];
  return { state: { ...rest, safe }, newestSpanAtMs };
}

/** The safe block of an encoded state, without decoding all of it; null when it has none. */
export function readSafeBlock(encoded: string): bigint | null {
  const [head = ''] = encoded.split('\n', 1);
  return head === '' ? null : (parse(head) as { safeBlock: bigint | null }).safeBlock;
}

type ListKey =
  | 'settlements'
  | 'unprocessedRounds'
  | 'checkpoints'
  | 'mintedRounds'
  | 'perWeightByDate'
  | 'perWeightAtActivation'
  | 'pendingWeight'
  | 'metadata'
  | 'positions'
  | 'feed'
  | 'activity';

type ScalarState = Pick<ChainState, 'block' | 'core' | 'governance' | 'token'> & {
  readonly mining: Omit<ChainState['mining'], 'perWeightAtActivation' | 'pendingWeight' | 'perWeightByDate'>;
  readonly collection: Omit<ChainState['collection'], 'metadata'>;
  readonly feedRun: string;
  readonly givenUpEvents: EvictedEvents;
};

function buildChainState(
  { mining, collection, feedRun, givenUpEvents, ...scalars }: ScalarState,
  lines: readonly string[],
): ChainState {
  const lists = new Map<ListKey, unknown[]>();
  const owners: { owner: string; tokenIds: readonly number[]; activity: OwnerEvent[] }[] = [];
  for (const line of lines) {
    const entry = parse(line) as
      | { list: ListKey; items: unknown[] }
      | { owner: string; tokenIds: readonly number[] };
    if ('owner' in entry) owners.push({ ...entry, activity: [] });
    else if (entry.list === 'activity') owners.at(-1)?.activity.push(...(entry.items as OwnerEvent[]));
    else lists.set(entry.list, [...(lists.get(entry.list) ?? []), ...entry.items]);
  }
  const items = <Item>(key: ListKey) => (lists.get(key) ?? []) as Item[];
  return {
    ...scalars,
    settlements: List(items<Settlement>('settlements')),
    unprocessedRounds: List(items('unprocessedRounds')),
    checkpoints: List(items<Checkpoint>('checkpoints')),
    mintedRounds: List(items('mintedRounds')),
    feed: { run: feedRun, events: List(items<ChainFeedEvent>('feed')), evicted: givenUpEvents },
    positions: ImmutableMap(items<Position>('positions').map((position) => [position.tokenId, position])),
    owners: ImmutableMap(
      owners.map(({ owner, tokenIds, activity }) => [owner, { tokenIds, activity: List(activity) }]),
    ),
    mining: {
      ...mining,
      perWeightAtActivation: ImmutableMap(items<[string, bigint]>('perWeightAtActivation')),
      pendingWeight: ImmutableMap(items<[string, bigint]>('pendingWeight')),
      perWeightByDate: List(items('perWeightByDate')),
    },
    collection: { ...collection, metadata: ImmutableMap(items<[number, TokenMetadata]>('metadata')) },
  };
}

function* encodeList(list: ListKey, values: Iterable<unknown>): Iterable<string> {
  let items: unknown[] = [];
  for (const value of values) {
    items.push(value);
    if (items.length < entriesPerLine) continue;
    yield stringify({ list, items });
    items = [];
  }
  if (items.length > 0) yield stringify({ list, items });
}
