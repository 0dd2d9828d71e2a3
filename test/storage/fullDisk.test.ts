import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../storage/database.ts';
import { migrate } from '../../storage/migrations.ts';
import { createRowWriter } from '../../storage/rowWriter.ts';
import { eventually } from '../support/childProcess.ts';
import { manualClock } from '../support/manualClock.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { storedRows } from '../support/storedRows.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

/** A file system of so many MiB; null where this user may not mount one. */
function smallFileSystem(mebibytes: number): string | null {
  const path = join(temporaryDirectory(), 'small');
  mkdirSync(path);
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', path]).status !== 0)
    return null;
  onTestFinished(() => {
    spawnSync('umount', ['-l', path]);
  });
  return path;
}

describe('a full disk', () => {
  it('keeps what waits, asks the source to wait, and goes on when there is room', async ({ skip }) => {
    const disk = smallFileSystem(64);
    if (disk === null) return skip('mounting a file system is not permitted here');
    const database = openDatabase({ path: join(disk, 'clickhouse') });
    const tables = await migrate(database, silentLogger);
    const writer = createRowWriter({
      database,
      tables: () => tables,
      clock: manualClock(),
      logger: silentLogger,
    });
    writer.add(storedRows(1, 100));
    await writer.flushed();

    const { bavail, bsize } = statfsSync(disk);
    const ballast = join(disk, 'ballast');
    writeFileSync(ballast, Buffer.alloc(bavail * bsize - 64 * 1024));
    for (let position = 101; writer.hasRoom(); position += 1_000) writer.add(storedRows(position, 1_000));
    await eventually(() => writer.status().failures > 1, 'refusals by the full disk');
    expect(writer.hasRoom()).toBe(false);
    const added = writer.status().bufferedRows;
    expect(added).toBeGreaterThanOrEqual(50_000);

    rmSync(ballast);
    expect(await writer.flushed()).toBe(true);
    const [row] = await database.select(`SELECT count(), max(position) FROM ${tables.readings} FINAL`);
    expect(row?.map(Number)).toEqual([writer.flushedThrough(), writer.flushedThrough()]);
    await writer.close();
    await database.close();
  });
});
