import { expect, it } from 'vitest';
import { createClientCounts } from '../http/server/limits/clientCounts.ts';
import { readHeld, untilReleased } from './support/processes/held.ts';

it('a count of streams that is not lowered is named after a test', async () => {
  const before = readHeld();
  const counts = createClientCounts(1, 1);
  counts.change(null, 1);
  await expect(untilReleased(before, 100)).rejects.toThrow('still held: requests and streams of clients');
  counts.change(null, -1);
  await untilReleased(before);
});
