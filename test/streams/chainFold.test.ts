import type { StoredMsg } from '@nats-io/jetstream';
import { Registry } from 'prom-client';
import { encodeAbiParameters, encodeEventTopics } from 'viem';
import { describe, expect, it } from 'vitest';
import { type ChainActors, createChainActors } from '../../actors/chain/chainActors.ts';
import { retainedStatesMax } from '../../actors/chain/fold/spanFoldState.ts';
import { miningAbi } from '../../actors/chain/spans/contractAbis.ts';
import { beforeAll } from '../../actors/events/arrival.ts';
import { nothingEvicted } from '../../actors/events/eventWindow.ts';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import { toAddress } from '../../actors/schemas/hex.ts';
import type { EconomyView } from '../../actors/views/chain/chainViewTypes.ts';
import { createFeedViews, type FeedItem, type FeedPage } from '../../actors/views/feed/feedViews.ts';
import { type Database, openDatabase } from '../../storage/database.ts';
import { deleteRowsAbove } from '../../storage/deleteRowsAbove.ts';
import { createWriterEventsStored } from '../../storage/eventsStored.ts';
import { migrate } from '../../storage/migrations.ts';
import { listRowTables } from '../../storage/rowTables.ts';
import { createStoredEvents } from '../../storage/storedEvents.ts';
import type { StoredRows } from '../../storage/storedRows.ts';
import type { Tables } from '../../storage/tables.ts';
import { createChainFold } from '../../streams/chain/chainFold.ts';
import { chainStream } from '../../streams/chain/chainStream.ts';
import { registerChainMetrics } from '../../streams/metrics/chainMetrics.ts';
import { createMessageCounts } from '../../streams/pipeline/messageCounts.ts';
import { createRowWriter, type RowWriter } from '../../streams/pipeline/rowWriter.ts';
import { OlderSnapshotNeeded } from '../../streams/pipeline/streamFold.ts';
import { manualClock } from '../support/manualClock.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { buildBatch } from '../support/readings/buildBatch.ts';
import { acceptsState, restoreState } from '../support/restoreState.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { feedWriter } from '../support/streams/sinkFeed.ts';

const streamCreated = '2026-01-01T00:00:00Z';
const core = toAddress(`0x${'c0'.repeat(20)}`);
const contracts = {
  core,
  proxyAdmin: toAddress(`0x${'01'.repeat(20)}`),
  operatorTimelock: toAddress(`0x${'02'.repeat(20)}`),
  tokenFactory: toAddress(`0x${'03'.repeat(20)}`),
  mining: toAddress(`0x${'04'.repeat(20)}`),
  token: toAddress(`0x${'05'.repeat(20)}`),
  collection: toAddress(`0x${'06'.repeat(20)}`),
};

/** Spans of one empty block each; blocks above a fork have different hashes. */
function createChainWriter() {
  const messages: StreamMessage[] = [];
  const hashes = new Map<number, string>();
  const findHash = (block: number) => hashes.get(block) ?? `0x${'0'.repeat(64)}`;
  let fork = 0;
  function append(fromBlock: number, toBlock: number, checkpointsOfBlock = 0) {
    for (let block = fromBlock; block <= toBlock; block++) {
      const hash = `0x${fork.toString(16).padStart(4, '0')}${block.toString(16).padStart(60, '0')}`;
      const timestamp = new Date(Date.UTC(2026, 0, 1) + block * 1_000).toISOString();
      const span = {
        core,
        fork,
        fromBlock: String(block),
        toBlock: String(block),
        parentHash: findHash(block - 1),
        hash,
        timestamp,
        blocks:
          checkpointsOfBlock === 0
            ? []
            : [{ number: String(block), hash, timestamp, logs: checkpointLogs(block, checkpointsOfBlock) }],
      };
      hashes.set(block, hash);
      messages.push({
        seq: messages.length + 1,
        subject: 'miner.chain.31337.span',
        data: Buffer.from(JSON.stringify(span)),
        timestampNanos: BigInt(messages.length + 1) * 10n ** 9n,
      });
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

/** Logs of a block that become events of the feed. */
function checkpointLogs(block: number, count: number) {
  const event = miningAbi.find((item) => item.type === 'event' && item.name === 'Checkpointed');
  if (event?.type !== 'event' || event.name !== 'Checkpointed') throw new Error('no such event');
  return Array.from({ length: count }, (_, logIndex) => ({
    address: contracts.mining,
    topics: encodeEventTopics({
      abi: [event],
      args: { afterRound: BigInt(block), throughRound: BigInt(block + 1) },
    }),
    data: encodeAbiParameters(
      event.inputs.filter(({ indexed }) => !indexed),
      [1n, 2n, 3n, 4n, 5n, 6n],
    ),
    transactionHash: `0x${block.toString(16).padStart(64, '0')}`,
    transactionIndex: 0,
    logIndex,
  }));
}

/** Folds over one database. */
async function createWritten() {
  const database = openDatabase({ path: temporaryDirectory() });
  const tables = await migrate(database, silentLogger);
  const start = (position = 0) => {
    const writer = createRowWriter({
      stream: 'MINER_CHAIN',
      database,
      tables: () => tables,
      clock: manualClock(),
      logger: silentLogger,
    });
    const feed = feedWriter(writer, position);
    const removeAbove = (position: number) =>
      deleteRowsAbove(database, { tables, stream: 'MINER_CHAIN', position });
    return { writer, feed, removeAbove, ...createFold(feed.add) };
  };
  return { database, tables, start };
}

/** SQL condition for rows of evicted events. */
function formatEvictedCondition(actors: ChainActors): string {
  const { run, evicted } = actors.newest()?.feed ?? { run: '', evicted: nothingEvicted };
  const { position, ordinal } = evicted.through ?? beforeAll;
  return `run = '${run}' AND (position < ${position} OR (position = ${position} AND ordinal <= ${ordinal}))`;
}

function createFold(onRows: (rows: StoredRows) => void = () => undefined) {
  const registry = new Registry();
  const actors = createChainActors({ chainId: 31_337n, contracts, deploymentBlock: 1n });
  const fold = createChainFold({
    actors,
    counts: createMessageCounts(registry),
    chainCounts: registerChainMetrics(registry, actors),
    logger: silentLogger,
  });
  const take = (messages: readonly StreamMessage[]) => {
    const batch = buildBatch(messages, streamCreated);
    const { rows } = fold.receive(batch);
    onRows({ ...rows, throughPosition: batch.position });
  };
  return { registry, actors, fold, take };
}

describe('the fold of the chain stream', () => {
  it('keeps all states from a deep fork on until it has followed the fork, and then only the newest', async () => {
    const chain = createChainWriter();
    chain.append(1, 900);
    const { registry, actors, fold, take } = createFold();
    take(chain.messages.slice(0, 50));
    const early = [...fold.capture().all()];
    take(chain.messages.slice(50, 150));
    const late = [...fold.capture().all()];
    take(chain.messages.slice(150));
    expect(actors.state.safe.length).toBe(retainedStatesMax);

    chain.forkBehind(100, 920);
    expect(() => take(chain.messages.slice(900))).toThrow(OlderSnapshotNeeded);
    expect(acceptsState(fold, late)).toBe(false);
    expect(acceptsState(fold, early)).toBe(true);
    restoreState(fold, early, 50);
    take(chain.messages.slice(50, 900));
    expect(actors.state.safe[0]?.block.number).toBeLessThanOrEqual(100n);
    take(chain.messages.slice(900));

    expect(actors.state.safe.length).toBe(retainedStatesMax);
    expect(acceptsState(fold, late)).toBe(true);
    const metrics = await registry.metrics();
    expect(metrics).toContain('miner_chain_reorganizations_total{reached="safe"} 1');
    // Blocks 101 to 900.
    expect(metrics).toContain('miner_chain_reorganization_depth_blocks_sum 800');
    expect(metrics).toContain('miner_chain_rewinds_total 1');
    const fresh = createFold();
    fresh.take(chain.messages.slice(0, 100));
    fresh.take(chain.messages.slice(900));
    expect(actors.newest()).toEqual(fresh.actors.newest());
  });

  it('moves old events of the feed to ClickHouse, each once, through forks and restarts', async () => {
    const { database, tables, start } = await createWritten();
    /** IDs of transactions and logs, stored ones before cached ones. */
    const readEvents = async ({ actors, feed }: ReturnType<typeof start>) => {
      await feed.flushed();
      const rows = await database.select(
        `SELECT DISTINCT id FROM ${tables.chainEvents.events} WHERE ${formatEvictedCondition(actors)} ORDER BY id`,
      );
      const stored = rows.map(([id]) => String(id));
      const cached = actors.newest()?.feed.events.toArray() ?? [];
      const cachedIds = cached.map(
        ({ address, source, details }) =>
          `chain:31337:${address}:${source.transactionHash}:${source.logIndex}:${details.type}`,
      );
      return { stored, all: [...stored, ...cachedIds] };
    };
    try {
      const chain = createChainWriter();
      chain.append(1, 1_500, 4);
      const first = start();
      first.take(chain.messages.slice(0, 700));
      const early = [...first.fold.capture().all()];
      first.take(chain.messages.slice(700, 900));
      const late = [...first.fold.capture().all()];
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

      const second = start(900);
      restoreState(second.fold, late, 900);
      await second.removeAbove(900);
      second.take(chain.messages.slice(900));
      // After a restart, or on a replica, the state equals the first one after each message.
      expect(await readEvents(second)).toEqual(before);

      chain.forkBehind(1_000, 1_700, 3);
      second.take(chain.messages.slice(1_500));
      const forked = await readEvents(second);
      expect(new Set(forked.all).size).toBe(forked.all.length);
      expect(forked.all).toHaveLength(1_000 * 4 + 689 * 3);

      // A fork below every retained state: an older snapshot is restored, and rows above it are removed.
      chain.forkBehind(880, 1_900, 2);
      expect(() => second.take(chain.messages.slice(2_200))).toThrow(OlderSnapshotNeeded);
      restoreState(second.fold, early, 700);
      await second.removeAbove(700);
      second.take(chain.messages.slice(700));
      const rewound = await readEvents(second);
      expect(new Set(rewound.all).size).toBe(rewound.all.length);
      expect(rewound.all).toHaveLength(880 * 4 + 1_009 * 2);
    } finally {
      await database.close();
    }
  });

  it('removes the rows of a message that the stream has lost, although an earlier one made their blocks safe', async () => {
    const { database, tables, start } = await createWritten();
    const countRows = async () => {
      const counts = await Promise.all(
        listRowTables(tables, 'MINER_CHAIN').map((table) => database.select(`SELECT count() FROM ${table}`)),
      );
      return counts.map(([row]) => Number(row?.[0]));
    };
    try {
      const chain = createChainWriter();
      chain.append(1, 1_500, 4);
      const first = start();
      first.take(chain.messages.slice(0, 900));
      await first.feed.flushed();
      const before = await countRows();
      first.take(chain.messages.slice(900));
      await first.feed.flushed();
      const origins = (await chainStream.readRowOrigins?.(database, tables)) ?? [];
      // Events are evicted several hundred at once.
      expect(origins.map(({ position }) => position)).toEqual([1_485, 1_485, 1_485, 1_500]);
      const isAt = (offset: number) =>
        origins.map(({ position, isMessage }) =>
          isMessage({ time: new Date((position + offset) * 1_000) } as StoredMsg),
        );
      expect(isAt(0)).toEqual([true, true, true, true]);
      expect(isAt(-1)).toEqual([false, false, false, false]);
      await first.removeAbove(900);
      expect(await countRows()).toEqual(before);
    } finally {
      await database.close();
    }
  });

  it('shows each event once and up to date after a purge and a fold of republished messages', async () => {
    const { database, tables, start } = await createWritten();
    try {
      const chain = createChainWriter();
      chain.append(1, 1_500, 4);
      const first = start();
      first.take(chain.messages);
      const before = await readPages(first, database, tables);
      expect(new Set(before.map(({ id }) => id)).size).toBe(1_489 * 4);

      // The indexer begins again at the deployment; no snapshot is of use, so the fold does too.
      const again = chain.messages.map((message) => ({
        ...message,
        seq: message.seq + 1_500,
        timestampNanos: message.timestampNanos + 10_000n * 10n ** 9n,
      }));
      const second = start(1_500);
      await second.removeAbove(1_500);
      second.take(again);
      const after = await readPages(second, database, tables);
      expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
      expect(after.map(({ recordedAtMs }) => recordedAtMs)).toEqual(
        before.map(({ recordedAtMs }) => recordedAtMs + 10_000_000),
      );
    } finally {
      await database.close();
    }
  });

  it('makes the same rows again after a kill on its way to a deep fork, where events are evicted later', async () => {
    const { database, tables, start } = await createWritten();
    try {
      const chain = createChainWriter();
      chain.append(1, 2_000, 4);
      const first = start();
      first.take(chain.messages.slice(0, 1_200));
      const early = [...first.fold.capture().all()];
      first.take(chain.messages.slice(1_200));
      const expected = await readPages(first, database, tables);
      const second = start(1_200);
      restoreState(second.fold, early, 1_200);
      await second.removeAbove(1_200);
      second.actors.retainFrom(600n);
      second.take(chain.messages.slice(1_200, 1_700));
      await second.feed.flushed();
      // Snapshots above the restored one are gone, so the next start takes the same.
      const third = start(1_200);
      restoreState(third.fold, early, 1_200);
      third.take(chain.messages.slice(1_200));
      expect(await readPages(third, database, tables)).toEqual(expected);
    } finally {
      await database.close();
    }
  });
});

/** All events, as the pages of the feed show them. */
async function readPages(
  { actors, writer }: { actors: ChainActors; writer: RowWriter },
  database: Database,
  tables: Tables,
): Promise<FeedItem[]> {
  const economy = { status: 'available', chain: { chainId: actors.chainId }, feed: actors.newest()?.feed };
  const feed = createFeedViews({
    installationId: 'wheel-1',
    chain: { economy: () => economy as EconomyView },
    progress: () => null,
    olderEvents: createStoredEvents({
      database,
      tables: () => tables,
      eventsStored: createWriterEventsStored({ measurement: writer, chain: writer }),
    }),
  });
  const items: FeedItem[] = [];
  for (let cursor: string | null = null; ; ) {
    const request = { category: 'all', limit: 2_000, cursor } as const;
    const page = (await feed.page(request, new AbortController().signal)) as FeedPage;
    items.push(...page.events);
    cursor = page.nextCursor;
    if (cursor === null) return items;
  }
}
