import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Collects garbage and returns the heap in use, in bytes. */
export function measureHeapBytes(): number {
  setFlagsFromString('--expose-gc');
  const collectGarbage: unknown = runInNewContext('gc');
  if (typeof collectGarbage !== 'function') throw new Error('the garbage collector is not exposed');
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
