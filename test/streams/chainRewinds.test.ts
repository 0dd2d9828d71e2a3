import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChainActors, createChainActors } from '../../actors/chain/chainActors.ts';
import { retainedStatesMax } from '../../actors/chain/fold/spanFoldState.ts';
import type { FoldRecord } from '../../actors/folds/foldRecord.ts';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import { type Address, toAddress } from '../../actors/schemas/hex.ts';
import { OlderSnapshotNeeded, type StreamFold } from '../../streams/pipeline/streamFold.ts';
import { configuredEconomy, minted, transferred } from '../support/chain/writtenEconomy.ts';
import {
  buildSpan,
  buildSpanMessage,
  type WrittenEvent,
  writtenSettings,
} from '../support/chain/writtenSpans.ts';
import { buildBatch } from '../support/readings/buildBatch.ts';
import { acceptsState, restoreState } from '../support/restoreState.ts';
import { sortRecords } from '../support/sortRecords.ts';
import { buildCheckpointed, createWrittenFold } from '../support/streams/writtenFold.ts';

const streamCreated = '2026-01-01T00:00:00Z';

function createFold() {
  const actors = createChainActors(writtenSettings);
  let evicted = 0;
  const receive: ChainActors['receive'] = (message) => {
    const outcome = actors.receive(message);
    if (outcome !== 'unread' && 'output' in outcome) evicted += outcome.output.evicted.length;
    return outcome;
  };
  const { registry, fold } = createWrittenFold(
    Object.assign(Object.create(actors) as ChainActors, { receive }),
  );
  const take = (messages: readonly StreamMessage[], created = streamCreated) =>
    fold.receive(buildBatch(messages, created));
  /** Tracks which events have been evicted so far. */
  const countEvicted = () => {
    const before = evicted;
    return () => evicted - before;
  };
  return { registry, actors, fold, take, countEvicted };
}

/** Blocks in a row, each with this number of feed events, and with a mint of an owner if there is one; `first` are events of the first block. */
function buildBlocks(
  fromBlock: number,
  toBlock: number,
  seq: number,
  events: number,
  {
    fork = 0,
    parentBranch = fork,
    owner,
    first = [],
  }: {
    readonly fork?: number;
    readonly parentBranch?: number;
    readonly owner?: Address;
    readonly first?: readonly WrittenEvent[];
  } = {},
) {
  return Array.from({ length: toBlock - fromBlock + 1 }, (_, index) =>
    buildSpanMessage(
      buildSpan({
        number: fromBlock + index,
        fork,
        ...(index === 0 && { parentBranch }),
        events: [
          ...(owner !== undefined && fromBlock + index === 1 ? configuredEconomy : []),
          ...(index === 0 ? first : []),
          ...Array.from({ length: events }, () => buildCheckpointed(1)),
          ...(owner === undefined ? [] : [minted(owner, fromBlock + index)]),
        ],
      }),
      seq + index,
    ),
  );
}

/** Folds all messages, and starts from the beginning again if the fold needs an older state. */
function followRewinding(
  { fold, actors }: { readonly fold: StreamFold; readonly actors: ChainActors },
  messages: readonly StreamMessage[],
) {
  let rewinds = 0;
  let statesMax = 0;
  for (let position = 0; position < messages.length; ) {
    const end = Math.min(position + 97, messages.length);
    try {
      fold.receive(buildBatch(messages.slice(position, end), streamCreated));
      const { safe, forkStates } = actors.state;
      statesMax = Math.max(statesMax, safe.length + forkStates.length);
      position = end;
    } catch (error) {
      if (!(error instanceof OlderSnapshotNeeded)) throw error;
      if (++rewinds > 10) throw new Error('the fold rewinds without an end', { cause: error });
      restoreState(fold, [], 0);
      position = 0;
    }
  }
  return { rewinds, statesMax };
}

it('a fold restored from any capture goes on to the same state', () => {
  // Most events of an owner leave memory, too, long after the last one.
  const { actors, fold, take } = createFold();
  const [owner, heir] = [toAddress(`0x${'a'.repeat(40)}`), toAddress(`0x${'b'.repeat(40)}`)];
  const messages = [
    ...buildBlocks(1, 50, 1, 4, { owner }),
    ...buildBlocks(51, 99, 51, 4),
    ...buildBlocks(100, 900, 100, 4, { first: [transferred(owner, heir, 1)] }),
    // Twice, safe blocks are replaced by blocks with fewer and different events.
    ...buildBlocks(850, 1_000, 901, 2, { fork: 1, parentBranch: 0 }),
    ...buildBlocks(990, 1_300, 1_052, 5, { fork: 2, parentBranch: 1 }),
  ];
  const captured: FoldRecord[][] = [];
  for (let from = 0; from < messages.length; from += 61) {
    captured.push([...fold.capture()]);
    take(messages.slice(from, from + 61));
  }
  const complete = sortRecords(fold.capture());
  expect(actors.state.forks).toBe(2);
  expect(actors.newest()?.feed.evicted.through).not.toBeNull();
  const { activityCount = 0, activity } = actors.newest()?.owners.get(owner) ?? {};
  expect(activity?.size).toBeLessThan(activityCount);

  // Some captures in each run, other ones in the next.
  const [first = 0] = fc.sample(fc.nat(7), 1);
  const sample = captured
    .map((records, index) => ({ records, index }))
    .filter(({ index }) => index % 8 === first);
  let restored = 0;
  for (const { records, index } of sample) {
    const again = createFold();
    restoreState(again.fold, records);
    try {
      again.take(messages.slice(index * 61));
    } catch (error) {
      // It was captured above a fork that comes later.
      if (!(error instanceof OlderSnapshotNeeded)) throw error;
      continue;
    }
    expect(sortRecords(again.fold.capture())).toEqual(complete);
    restored++;
  }
  expect(restored).toBeGreaterThan(sample.length / 2);
});

it('a row names the message that stored it, and is of a block that no fork in memory replaces', () => {
  const { actors, take } = createFold();
  const messages = buildBlocks(1, 1_500, 1, 4);
  take(messages.slice(0, 1_400));
  const { rows } = take(messages.slice(1_400));
  expect(rows.chainEvents.length).toBeGreaterThan(0);
  for (const { position, storedBy } of rows.chainEvents) {
    expect(storedBy).toBeGreaterThan(1_400);
    // Each message is a block.
    expect(position).toBeLessThanOrEqual(Number(actors.state.safe[0]?.block.number));
  }
});

describe('a repair', () => {
  it('is followed beyond the retained states, after another deep one', async () => {
    const told = [
      ...buildBlocks(1, 900, 1, 1),
      // The second fork is above the block of the first one.
      ...buildBlocks(101, 1_000, 901, 2, { fork: 1, parentBranch: 0 }),
      ...buildBlocks(301, 1_100, 1_801, 3, { fork: 2, parentBranch: 1 }),
    ];
    const { registry, actors, fold } = createFold();
    const { rewinds, statesMax } = followRewinding({ fold, actors }, told);
    // One rewind for each fork, and one more for the first: no snapshot behind it serves the second.
    expect(rewinds).toBe(3);
    // However deep the forks are, one more state for each is enough.
    expect(statesMax).toBe(retainedStatesMax + 2);
    const metrics = await registry.metrics();
    expect(metrics).toContain('miner_chain_reorganizations_total{reached="safe"} 3');
    expect(actors.state.safe.length).toBe(retainedStatesMax);
    const whole = createFold();
    whole.actors.retainAt(new Set([100n, 300n]));
    whole.take(told);
    expect(actors.newest()?.block).toEqual(whole.actors.newest()?.block);
    const kept = actors.newest()?.checkpoints.toArray();
    expect(kept).toHaveLength(100 + 200 * 2 + 789 * 3);
    expect(kept).toEqual(whole.actors.newest()?.checkpoints.toArray());
  });

  it('keeps no extra states for a recreated stream', () => {
    const { actors, fold, take } = createFold();
    take(buildBlocks(1, 800, 1, 1));
    const aboveFork = [...fold.capture()];
    expect(() => take(buildBlocks(101, 103, 5_001, 1, { fork: 1, parentBranch: 0 }))).toThrow(
      OlderSnapshotNeeded,
    );
    expect(acceptsState(fold, aboveFork)).toBe(false);
    restoreState(fold, [], 0);
    const again = buildBlocks(1, 800, 1, 1);
    take(again.slice(0, 400), '2026-02-01T00:00:00Z');
    take(again.slice(400), '2026-02-01T00:00:00Z');
    expect(actors.state.safe.length).toBe(retainedStatesMax);
    expect(acceptsState(fold, aboveFork)).toBe(true);
  });

  it('is rejected after one rewind if no span announced its block', async () => {
    const { actors, fold, take, registry } = createFold();
    const wide = { ...buildSpan({ number: 1 }), toBlock: '100', hash: buildSpan({ number: 100 }).hash };
    const before = [buildSpanMessage(wide, 1), ...buildBlocks(101, 900, 2, 0)];
    const unknown = buildSpanMessage(buildSpan({ number: 50, fork: 1 }), 802);
    take(before);
    expect(() => take([unknown])).toThrow(OlderSnapshotNeeded);
    restoreState(fold, [], 0);
    take(before);
    expect(actors.state.safe.length).toBe(retainedStatesMax);
    take([unknown]);
    take(buildBlocks(901, 902, 803, 0));
    expect(actors.state.safe.length).toBe(retainedStatesMax);
    expect(actors.state.head?.number).toBe(902n);
    const metrics = await registry.metrics();
    expect(metrics).toContain('miner_chain_rewinds_total 1');
    expect(metrics).toContain('miner_messages_rejected_total{stream="MINER_CHAIN",reason="unlinked_span"} 1');
  });
});
