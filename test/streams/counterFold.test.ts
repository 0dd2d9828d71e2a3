import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createCounterActors } from '../../actors/wheel/counterActors.ts';
import { openDatabase } from '../../storage/database.ts';
import { createRecentReadings } from '../../storage/recentReadings.ts';
import { counterStream } from '../../streams/counter/counterStream.ts';
import { createMessageCounts } from '../../streams/pipeline/messageCounts.ts';
import { genesisMs } from '../support/genesis.ts';
import { followCaptures } from '../support/increments.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { buildBatch } from '../support/readings/buildBatch.ts';
import { readingMessage, toPublication } from '../support/readings/readingMessages.ts';
import { restoreState } from '../support/restoreState.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { openWriter } from '../support/streams/openWriter.ts';
import { feedWriter } from '../support/streams/sinkFeed.ts';

describe('the fold of the counter stream', () => {
  it('moves old events of the feed to ClickHouse, each once, through a restart', async () => {
    const database = openDatabase({ path: temporaryDirectory() });
    const start = async (position = 0) => {
      const { tables, writer } = await openWriter(database);
      const actors = createCounterActors({ genesisMs, publicInstallationId: 'wheel.one' });
      const registry = new Registry();
      const fold = counterStream.createFold(actors, {
        recent: createRecentReadings({ storedThrough: () => 0 }),
        counts: createMessageCounts(registry),
        logger: silentLogger,
        registry,
      });
      return { actors, fold, tables, feed: feedWriter(writer, position) };
    };
    // Each reading passes a hundred milestones of distance.
    const messages = Array.from({ length: 60 }, (_, index) => ({
      seq: index + 1,
      ...toPublication(readingMessage('wheel.one', index, { distanceMm: (index + 1) * 5_000_000_000 })),
      timestampNanos: 0n,
    })).map(({ body, ...message }) => ({ ...message, data: Buffer.from(body) }));
    type Started = Awaited<ReturnType<typeof start>>;
    const take = ({ fold, feed }: Started, from: number, to: number) => {
      const { rows } = fold.receive(buildBatch(messages.slice(from, to)));
      feed.add({ ...rows, throughPosition: to });
    };
    const readEvents = async ({ actors, tables, feed }: Started) => {
      await feed.flushed();
      const rows = await database.select(
        `SELECT DISTINCT id FROM ${tables.measurementEvents.events} ORDER BY id`,
      );
      const achievements = actors.achievements();
      const [newest] = await database.select(
        `SELECT position, ordinal FROM ${tables.measurementEvents.events} ORDER BY position DESC, ordinal DESC LIMIT 1`,
      );
      expect(newest?.map(Number)).toEqual([
        achievements?.evicted.through?.position,
        achievements?.evicted.through?.ordinal,
      ]);
      expect(achievements?.events.size).toBeLessThanOrEqual(2_000);
      return { rows, held: achievements?.events.toArray() };
    };
    try {
      const first = await start();
      take(first, 0, 35);
      const captured = [...first.fold.capture().all()];
      const { follow, increments } = followCaptures();
      for (let from = 35; from < 60; from += 5) {
        take(first, from, from + 5);
        follow(first.fold.capture());
      }
      expect(increments()).toBe(4);
      const before = await readEvents(first);
      expect(before.rows.length).toBeGreaterThan(3_000);

      const second = await start(35);
      restoreState(second.fold, captured, 35);
      take(second, 35, 60);
      expect(await readEvents(second)).toEqual(before);
    } finally {
      await database.close();
    }
  });
});
