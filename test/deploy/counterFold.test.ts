import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createCounterActors } from '../../actors/counterActors.ts';
import { createCounterFold } from '../../deploy/counterFold.ts';
import { createMessageCounts } from '../../deploy/messageCounts.ts';
import { openDatabase } from '../../storage/database.ts';
import { migrate } from '../../storage/migrations.ts';
import { createRecentReadings } from '../../storage/recentReadings.ts';
import { createRowWriter } from '../../storage/rowWriter.ts';
import { manualClock } from '../support/manualClock.ts';
import { genesisMs } from '../support/minerProcess.ts';
import { mixedPublications } from '../support/readingMessages.ts';
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
        rejections: {
          resume: async () => undefined,
          add: () => undefined,
          hasRoom: () => true,
          room: async () => undefined,
          flushed: async () => true,
          waiting: 0,
          close: async () => undefined,
        },
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
      streamCreated: '',
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
});
