import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Heap in use once everything that nothing refers to is collected, in bytes. */
export function measureHeapBytes(): number {
  setFlagsFromString('--expose-gc');
  const collectGarbage: unknown = runInNewContext('gc');
  if (typeof collectGarbage !== 'function') throw new Error('the garbage collector is not exposed');
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
