import { constants } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { readErrorMessage } from '../../actors/readErrorMessage.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { type Finding, failed, ok, warned } from './finding.ts';

const mib = 1024 * 1024;
/** With less free space a merge of parts may not fit. */
const nearlyFullBytes = 256 * mib;
/** With less free space it is time to act, whether the disk is small or large. */
const scarceBytes = 2_048 * mib;
const remedy =
  'make room, or a larger disk: deploy/RUNBOOK.md, "Disk full". Nothing is lost meanwhile: rows wait, then messages wait in JetStream';

/** Checks the free space of the tables, and whether the embedded engine can write its folder. */
export async function checkDisk(database: Database, dataDir: string): Promise<Finding[]> {
  if (database.kind === 'server') {
    const disks = await database.select('SELECT name, free_space, total_space FROM system.disks');
    return disks.map(([name, free, total]) =>
      judgeRoom(`disk ${name} of ClickHouse`, Number(free), Number(total)),
    );
  }
  const { bavail, bsize, blocks } = await statfs(dataDir);
  return [judgeRoom(`disk of ${dataDir}`, bavail * bsize, blocks * bsize), await checkFolder(dataDir)];
}

export function judgeRoom(check: string, freeBytes: number, totalBytes: number): Finding {
  const detail = `${Math.round(freeBytes / mib)} MiB of ${Math.round(totalBytes / mib)} are free`;
  if (freeBytes < nearlyFullBytes) return failed(check, detail, remedy);
  if (freeBytes < scarceBytes) return warned(check, detail, remedy);
  return ok(check, detail);
}

async function checkFolder(dataDir: string): Promise<Finding> {
  try {
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    return ok('folder', `${dataDir} can be written`);
  } catch (error) {
    return failed(
      'folder',
      readErrorMessage(error),
      'give the user of the service the folder MINER_DATA_DIR',
    );
  }
}
