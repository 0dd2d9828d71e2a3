import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../storage/database.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { storedRows } from '../support/storage/storedRows.ts';
import { openWriter } from '../support/streams/openWriter.ts';
import { feedWriter } from '../support/streams/sinkFeed.ts';

/** Mounts a file system of a size in MiB; null if this user may not. */
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

/** @returns the file that takes nearly all space. */
function fill(disk: string): string {
  const { bavail, bsize } = statfsSync(disk);
  const ballast = join(disk, 'ballast');
  writeFileSync(ballast, Buffer.alloc(bavail * bsize - 64 * 1024));
  return ballast;
}

describe('a full disk', () => {
  it('keeps waiting rows, and continues when there is space', async ({ skip }) => {
    const disk = smallFileSystem(64);
    if (disk === null) return skip('mounting a file system is not permitted here');
    const database = openDatabase({ path: join(disk, 'clickhouse') });
    const { tables, writer } = await openWriter(database);
    const feed = feedWriter(writer);
    feed.add(storedRows(1, 100));
    await feed.flushed();

    const ballast = fill(disk);
    for (let position = 101; position < 50_000; position += 1_000) feed.add(storedRows(position, 1_000));
    await eventually(() => writer.status().failures > 1, 'refusals by the full disk');
    expect(feed.waiting).toBeGreaterThan(0);

    rmSync(ballast);
    await feed.flushed();
    const [row] = await database.select(`SELECT count(), max(position) FROM ${tables.readings} FINAL`);
    expect(row?.map(Number)).toEqual([writer.storedThrough(), writer.storedThrough()]);
    await database.close();
  });
});
