import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createCounterActors } from '../../actors/wheel/counterActors.ts';
import { openDatabase } from '../../storage/database.ts';
import { deleteRowsAbove } from '../../storage/deleteRowsAbove.ts';
import { migrate } from '../../storage/migrations.ts';
import { createRecentReadings } from '../../storage/recentReadings.ts';
import { createRowWriter } from '../../storage/rowWriter.ts';
import { createCounterFold } from '../../streams/counter/counterFold.ts';
import { createMessageCounts } from '../../streams/messageCounts.ts';
import { manualClock } from '../support/manualClock.ts';
import { genesisMs } from '../support/minerProcess.ts';
import { noRejections } from '../support/noRejections.ts';
import { mixedPublications, publicationOf, readingMessage } from '../support/readingMessages.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

describe('the fold of the counter stream', () => {
  it('is flushed when its rows are stored, and not when its writer was closed before', async () => {
    const database = openDatabase({ path: temporaryDirectory() });
    const tables = await migrate(database, silentLogger);
    const writer = createRowWriter({
      database,
      tables: () => tables,
      clock: manualClock(),
      logger: silentLogger,
    });
    const fold = createCounterFold({
      actors: createCounterActors({ genesisMs, publicInstallationId: 'wheel.one' }),
      recent: createRecentReadings({ storedThrough: () => 0 }),
      counts: createMessageCounts(new Registry(), ['MINER_COUNTER']),
      writing: {
        writer,
        rejections: noRejections,
        removeRowsAbove: async () => undefined,
      },
    });
    const messages = mixedPublications(90).map(({ subject, body }, index) => ({
      seq: index + 1,
      subject,
      data: Buffer.from(body),
      timestampNanos: 0n,
    }));
    const batchOf = (from: number, to: number) => ({
      messages: messages.slice(from, to),
      stored: [],
      streamCreated: '',
      position: to,
      checkpoint: () => ({ streamCreated: '', position: to, digest: null }),
    });
    fold.fold(batchOf(0, 30), '');
    expect(await fold.flushed()).toBe(true);
    fold.fold(batchOf(30, 90), '');
    const flushed = fold.flushed();
    await writer.close();
    expect(await flushed).toBe(false);
    await database.close();
  });

  it('gives old events of the feed to ClickHouse, each once, through a restart', async () => {
    const database = openDatabase({ path: temporaryDirectory() });
    const tables = await migrate(database, silentLogger);
    const start = () => {
      const actors = createCounterActors({ genesisMs, publicInstallationId: 'wheel.one' });
      const writer = createRowWriter({
        database,
        tables: () => tables,
        clock: manualClock(),
        logger: silentLogger,
      });
      const fold = createCounterFold({
        actors,
        recent: createRecentReadings({ storedThrough: () => 0 }),
        counts: createMessageCounts(new Registry(), ['MINER_COUNTER']),
        writing: {
          writer,
          rejections: noRejections,
          removeRowsAbove: async (position) => {
            await deleteRowsAbove(database, tables, position);
          },
        },
      });
      return { actors, writer, fold };
    };
    // Each passes a hundred distances.
    const messages = Array.from({ length: 60 }, (_, index) => ({
      seq: index + 1,
      ...publicationOf(readingMessage('wheel.one', index, { distanceMm: (index + 1) * 5_000_000_000 })),
      timestampNanos: 0n,
    })).map(({ body, ...message }) => ({ ...message, data: Buffer.from(body) }));
    const take = ({ fold }: ReturnType<typeof start>, from: number, to: number) =>
      fold.fold(
        {
          messages: messages.slice(from, to),
          stored: [],
          streamCreated: '',
          position: to,
          checkpoint: () => ({ streamCreated: '', position: to, digest: null }),
        },
        '',
      );
    const eventsOf = async ({ actors, fold }: ReturnType<typeof start>) => {
      await fold.flushed();
      const rows = await database.select(
        `SELECT DISTINCT id FROM ${tables.measurementEvents.events} ORDER BY id`,
      );
      const achievements = actors.achievements();
      const [newest] = await database.select(
        `SELECT position, ordinal FROM ${tables.measurementEvents.events} ORDER BY position DESC, ordinal DESC LIMIT 1`,
      );
      expect(newest?.map(Number)).toEqual([
        achievements?.givenUp.through?.position,
        achievements?.givenUp.through?.ordinal,
      ]);
      expect(achievements?.events.size).toBeLessThanOrEqual(2_000);
      return { rows, held: achievements?.events.toArray() };
    };
    try {
      const first = start();
      take(first, 0, 35);
      const captured = [...first.fold.capture()];
      for (let from = 35; from < 60; from += 5) take(first, from, from + 5);
      const before = await eventsOf(first);
      expect(before.rows.length).toBeGreaterThan(3_000);

      const second = start();
      second.fold.restore(captured, 35);
      await second.fold.rewind(35);
      take(second, 35, 60);
      expect(await eventsOf(second)).toEqual(before);
      await Promise.all([first.writer.close(), second.writer.close()]);
    } finally {
      await database.close();
    }
  });
});
