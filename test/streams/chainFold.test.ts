import { describe, expect, it } from 'vitest';
import { beforeFirst } from '../../actors/events/arrival.ts';
import { nothingEvicted } from '../../actors/events/eventWindow.ts';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import { cutRuns, findTip, type LineageRuns, openEnd, selectRuns } from '../../storage/runs/lineages.ts';
import { chainEvents } from '../../storage/tables/events.ts';
import { rowTablesOf } from '../../storage/tables/rowTables.ts';
import type { StoredRows } from '../../storage/tables/storedRows.ts';
import { OlderSnapshotNeeded } from '../../streams/pipeline/streamFold.ts';
import { buildTransactionHash } from '../support/chain/hashes.ts';
import { buildSpan, buildSpanMessage } from '../support/chain/writtenSpans.ts';
import { buildBatch } from '../support/readings/buildBatch.ts';
import { restoreState } from '../support/restoreState.ts';
import { openTables } from '../support/storage/openTables.ts';
import { openWriter } from '../support/streams/openWriter.ts';
import { feedWriter } from '../support/streams/sinkFeed.ts';
import { buildCheckpointed, createWrittenFold } from '../support/streams/writtenFold.ts';

const streamCreated = '2026-01-01T00:00:00Z';
/** Spans of one block a second, by default empty; blocks above a fork have different hashes. */
function createChainWriter() {
  const messages: StreamMessage[] = [];
  const branches: number[] = [];
  let fork = 0;
  function append(fromBlock: number, toBlock: number, checkpointsOfBlock = 0) {
    for (let number = fromBlock; number <= toBlock; number++) {
      const events = Array.from({ length: checkpointsOfBlock }, () => buildCheckpointed(number));
      const parentBranch = branches[number - 1] ?? fork;
      const span = buildSpan({ number, fork, parentBranch, events });
      const timestamp = new Date(Date.UTC(2026, 0, 1) + number * 1_000).toISOString();
      const transactionHash = buildTransactionHash(number);
      const blocks = span.blocks.map((block) => ({
        ...block,
        timestamp,
        logs: block.logs.map((log) => ({ ...log, transactionHash })),
      }));
      branches[number] = fork;
      messages.push(buildSpanMessage({ ...span, timestamp, blocks }, messages.length + 1));
    }
  }
  return {
    messages,
    append,
    forkBehind(block: number, toBlock: number, checkpointsOfBlock = 0) {
      fork++;
      append(block + 1, toBlock, checkpointsOfBlock);
    },
  };
}

/** Folds over one database. */
async function createWritten() {
  const opened = await openTables();
  const { database } = opened;
  let runs: LineageRuns = [];
  /** Begins a run: rows of messages above a position count no longer. */
  const begin = (position: number) => {
    runs = [
      ...cutRuns(runs, position),
      { run: `run ${runs.length + 1}, after ${position}`, through: openEnd },
    ];
  };
  /** @param state position of the restored state; 0 for a fold from the beginning. */
  const start = async (position = 0, state = position) => {
    begin(state);
    const run = () => runs.at(-1)?.run ?? '';
    const { writer } = await openWriter(database, { stream: 'MINER_CHAIN', run });
    const feed = feedWriter(writer, position);
    return { writer, feed, begin, readRuns: async () => runs, ...createFold(feed.add) };
  };
  return { opened, start };
}

function createFold(onRows: (rows: StoredRows) => void = () => undefined) {
  const { registry, actors, fold } = createWrittenFold();
  const take = (messages: readonly StreamMessage[]) => {
    const batch = buildBatch(messages, streamCreated);
    const { rows } = fold.receive(batch);
    onRows({ ...rows, throughPosition: batch.position });
  };
  return { registry, actors, fold, take };
}

describe('the fold of the chain stream', () => {
  it('moves old events of the feed to ClickHouse, each once, through forks and restarts', async () => {
    const { opened, start } = await createWritten();
    const { database } = opened;
    /** IDs of transactions and logs, stored ones before cached ones. */
    const readEvents = async ({ actors, feed, readRuns }: Awaited<ReturnType<typeof start>>) => {
      const visible = selectRuns(await readRuns());
      await feed.flushed();
      const { evicted } = actors.newest()?.feed ?? { evicted: nothingEvicted };
      const { position, ordinal } = evicted.through ?? beforeFirst;
      const rows = await database.select(
        `SELECT DISTINCT id FROM ${chainEvents.events.name} WHERE ${visible.sql}
         AND (position, ordinal) <= ({position:Int64}, {ordinal:Int64}) ORDER BY id`,
        { ...visible.parameters, position, ordinal },
      );
      const stored = rows.map(([id]) => String(id));
      const cached = actors.newest()?.feed.events.toArray() ?? [];
      const cachedIds = cached.map(
        ({ address, source, details }) =>
          `chain:31337:${address}:${source.transactionHash}:${source.logIndex}:${details.type}`,
      );
      return { stored, all: [...stored, ...cachedIds] };
    };
    const chain = createChainWriter();
    chain.append(1, 1_500, 4);
    const first = await start();
    first.take(chain.messages.slice(0, 700));
    const early = [...first.fold.capture()];
    first.take(chain.messages.slice(700, 900));
    const late = [...first.fold.capture()];
    first.take(chain.messages.slice(900));
    const before = await readEvents(first);
    // 12 confirmations: the events of all but the newest eleven blocks.
    expect(new Set(before.all).size).toBe(1_489 * 4);
    expect(before.all).toHaveLength(1_489 * 4);
    expect(before.stored.length).toBeGreaterThan(2_000);
    // States that a fork can return to are unchanged.
    const oldest = first.actors.state.safe[0]?.block.number as bigint;
    const newestStored = Math.max(...before.stored.map((id) => Number(id.split(':')[3])));
    expect(newestStored).toBeLessThanOrEqual(Number(oldest));

    const second = await start(900);
    restoreState(second.fold, late, 900);
    second.take(chain.messages.slice(900));
    // After a restart, or on a replica, the state equals the first one after each message.
    expect(await readEvents(second)).toEqual(before);

    chain.forkBehind(1_000, 1_700, 3);
    second.take(chain.messages.slice(1_500));
    const forked = await readEvents(second);
    expect(new Set(forked.all).size).toBe(forked.all.length);
    expect(forked.all).toHaveLength(1_000 * 4 + 689 * 3);

    // A fork below every retained state: an older snapshot is restored, and rows above it count no longer.
    chain.forkBehind(880, 1_900, 2);
    expect(() => second.take(chain.messages.slice(2_200))).toThrow(OlderSnapshotNeeded);
    restoreState(second.fold, early, 700);
    second.begin(700);
    second.take(chain.messages.slice(700));
    const rewound = await readEvents(second);
    expect(new Set(rewound.all).size).toBe(rewound.all.length);
    expect(rewound.all).toHaveLength(880 * 4 + 1_009 * 2);
  });

  it('stores no row that counts of a lost message', async () => {
    const { opened, start } = await createWritten();
    const { database } = opened;
    const countRows = async (runs: LineageRuns) => {
      const { sql, parameters } = selectRuns(runs);
      const counts = await Promise.all(
        rowTablesOf('MINER_CHAIN').map(({ definition }) =>
          database.select(`SELECT count() FROM ${definition.name} WHERE ${sql}`, parameters),
        ),
      );
      return counts.map(([row]) => Number(row?.[0]));
    };
    const chain = createChainWriter();
    chain.append(1, 1_500, 4);
    const first = await start();
    first.take(chain.messages.slice(0, 900));
    await first.feed.flushed();
    const before = await countRows(await first.readRuns());
    first.take(chain.messages.slice(900));
    await first.feed.flushed();
    const runs = await first.readRuns();
    expect(await countRows(runs)).not.toEqual(before);
    // Events are evicted several hundred at once.
    expect(await findTip(database, { stream: 'MINER_CHAIN', runs })).toBe(1_500);
    expect(await countRows(cutRuns(runs, 900))).toEqual(before);
  });
});
