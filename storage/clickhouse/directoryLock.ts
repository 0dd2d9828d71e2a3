import { readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../../actors/operatorError.ts';
import { readErrorCode } from '../../actors/readErrorCode.ts';

export class DirectoryInUse extends OperatorError {
  constructor(path: string, pid: number) {
    super(
      `${path} is in use by process ${pid}. Only one process may use it. ` +
        'Stop that process, set MINER_DATA_DIR to another directory, or share servers: MINER_NATS_URL, MINER_CLICKHOUSE_URL.',
    );
  }
}

/**
 * Marks a directory as used by this process. Takes over the mark of a process that is gone (kill -9).
 *
 * @returns a function that removes the mark.
 * @throws DirectoryInUse when another living process uses the directory.
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
    // The system may have given the number of a dead process to another one.
    const isSame = start === '' || readStartTime(Number(pid)) === start;
    const [inodeNow, ...folderNow] = describePlace(path).split(' ');
    // The directory was copied together with the mark: the process uses the original.
    const isCopy = inode !== undefined && inode !== inodeNow && folder.join(' ') !== folderNow.join(' ');
    return isSame && !isCopy && Number.isInteger(Number(pid)) ? Number(pid) : null;
  } catch (error) {
    if (readErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** A moved directory keeps its inode. Some file systems change the inode, but then the path stays. */
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
 * Start time of a process in clock ticks since boot, on Linux. Null on other systems, and for a process that has ended but whose parent has not
 * collected its status yet.
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
