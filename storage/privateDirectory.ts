import { chmodSync, mkdirSync } from 'node:fs';

/** Creates a folder of data that only this user may enter; an existing one of an earlier version becomes such a one. */
export function createPrivateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  chmodSync(path, 0o700);
}
