import { AsyncLocalStorage } from 'node:async_hooks';
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
