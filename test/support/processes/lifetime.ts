import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, onTestFinished } from 'vitest';

type End = () => unknown;

const sharing = new AsyncLocalStorage<End[]>();

/** Calls `end` when the test has finished, or after the last test of the file if its tests share what it ends. */
export function whenFinished(end: End): void {
  const ends = sharing.getStore();
  if (ends !== undefined) ends.push(end);
  else
    onTestFinished(async () => {
      await end();
    });
}

/**
 * Starts something slow once for all tests of a file: for the first test that asks. It ends after the last test. A test must not rely on state that
 * another one may change.
 */
export function shareInFile<Shared>(start: () => Promise<Shared>): () => Promise<Shared> {
  const ends: End[] = [];
  let started: Promise<Shared> | null = null;
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });
  return () => {
    started ??= sharing.run(ends, start);
    return started;
  };
}

/** Creates an empty directory that is removed when the test has finished. */
export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'miner-test-'));
  whenFinished(() => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
  return path;
}

/** Longest wait for anything. Only what hangs reaches it. */
export const waitMaxMs = 60_000;

/** Bounds of the pause between two probes, which is a tenth of the time waited so far, so that probing costs little. */
const [leastPauseMs, longestPauseMs] = [20, 500];

/** Calls `probe` until it returns a value, and returns that value. Fails with the last result if it takes too long. */
export async function eventually<Value>(
  probe: () => Promise<Value | null | undefined | false> | Value | null | undefined | false,
  what: string,
  timeoutMs = waitMaxMs,
): Promise<Value> {
  const startedMs = performance.now();
  let last: unknown = null;
  for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs = performance.now() - startedMs) {
    try {
      const value = await probe();
      if (value !== null && value !== undefined && value !== false) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    const pauseMs = Math.min(Math.max(waitedMs / 10, leastPauseMs), longestPauseMs);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  throw new Error(`${what} did not happen; the last answer: ${inspect(last, { depth: 4 })}`);
}
