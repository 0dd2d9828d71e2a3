import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, onTestFinished } from 'vitest';

type End = () => unknown;

const sharing = new AsyncLocalStorage<End[]>();

/** Ends what was started when the test has finished, or after the last test of the file where it is shared by them. */
export function whenFinished(end: End): void {
  const ends = sharing.getStore();
  if (ends !== undefined) ends.push(end);
  else
    onTestFinished(async () => {
      await end();
    });
}

/**
 * What tests of a file share because it takes long to start: started for the first one that asks, ended after the last. Tests that share something
 * expect nothing of it that another one may change.
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
