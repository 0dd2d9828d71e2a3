import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { OperatorError } from '../../actors/operatorError.ts';
import { readErrorCode } from '../../actors/readErrorCode.ts';

/**
 * Creates a folder that only this user may enter. An existing folder gets the same permissions.
 *
 * @throws OperatorError if that is impossible, for example in a container without a volume.
 */
export function createPrivateDirectory(path: string): void {
  try {
    createFolders(path);
    chmodSync(path, 0o700);
  } catch (error) {
    throw new OperatorError(
      `the folder ${path} cannot be created (${readErrorCode(error)}); set MINER_DATA_DIR to one that this user may write, or MINER_NATS_URL and MINER_CLICKHOUSE_URL to servers`,
      { exitStatus: 2, cause: error },
    );
  }
}

/** Node's own recursion never ends on a file system in which nobody can create folders, such as /proc. */
function createFolders(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const code = readErrorCode(error);
    if (code === 'EEXIST' && statSync(path).isDirectory()) return;
    if (code !== 'ENOENT' || existsSync(dirname(path))) throw error;
    createFolders(dirname(path));
    createFolders(path);
  }
}
