import { readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readErrorCode } from '../actors/readErrorCode.ts';

/** Another process has the directory. */
export class DirectoryInUse extends Error {
  override readonly name = 'DirectoryInUse';

  constructor(path: string, pid: number) {
    super(
      `${path} is in use by process ${pid}, and is one process's alone. ` +
        'Stop that process, set MINER_DATA_DIR to another directory, or share servers: MINER_NATS_URL, MINER_CLICKHOUSE_URL.',
    );
  }
}

/**
 * Marks a directory as this process's own. The mark of a process that is gone (kill -9) is taken over.
 *
 * @returns what removes the mark.
 * @throws DirectoryInUse when its process is alive.
 */
export function lockDirectory(path: string): () => void {
  const file = join(path, 'process.lock');
  const holder = readHolder(path, file);
  if (holder !== null && holder !== process.pid && isAlive(holder)) throw new DirectoryInUse(path, holder);
  writeFileSync(file, `${process.pid} ${readStartTime(process.pid) ?? ''} ${describePlace(path)}\n`);
  return () => rmSync(file, { force: true });
}

function readHolder(path: string, file: string): number | null {
  try {
    const [pid = '', start = '', inode, ...folder] = readFileSync(file, 'utf8').trim().split(' ');
    // The number of a dead process may have been given to another since.
    const isSame = start === '' || readStartTime(Number(pid)) === start;
    const [inodeNow, ...folderNow] = describePlace(path).split(' ');
    // The mark came with a copy of the directory: its process uses the original.
    const isCopy = inode !== undefined && inode !== inodeNow && folder.join(' ') !== folderNow.join(' ');
    return isSame && !isCopy && Number.isInteger(Number(pid)) ? Number(pid) : null;
  } catch (error) {
    if (readErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** A directory that is moved keeps the inode; some file systems change that, and keep the path. */
function describePlace(path: string): string {
  return `${statSync(path).ino} ${realpathSync(path)}`;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return readErrorCode(error) === 'EPERM';
  }
}

/**
 * Start time of a process in clock ticks since boot, where the system provides it (Linux). Null for one that has ended
 * and that its parent has not asked about yet.
 */
function readStartTime(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state = '', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? null : (fields[18] ?? null);
  } catch {
    return null;
  }
}
