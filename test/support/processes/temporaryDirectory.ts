import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { whenFinished } from './lifetime.ts';

/** Creates an empty directory that is removed when the test has finished. */
export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'miner-test-'));
  whenFinished(() => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
  return path;
}
