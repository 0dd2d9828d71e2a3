import { expect, it } from 'vitest';
import { createLogSearch } from '../../streams/indexer/logSearch.ts';
import { ProviderInconsistent } from '../../streams/indexer/providerInconsistent.ts';

const search = (answer: unknown) =>
  createLogSearch({ request: async () => answer } as never).findBlocks(3n, 5n, {});

it.each([
  { answer: null },
  { answer: {} },
  { answer: [null] },
  { answer: [{}] },
  { answer: [{ blockNumber: null }] },
  { answer: [{ blockNumber: '0x2' }] },
  { answer: [{ blockNumber: '0x6' }] },
])('no log is found in the answer of $answer', async ({ answer }) => {
  await expect(search(answer)).rejects.toThrow(ProviderInconsistent);
});

it('logs are in blocks that are named once each, in order', async () => {
  const logs = [4, 3, 4, 5].map((block) => ({ blockNumber: `0x${block}` }));
  expect(await search(logs)).toEqual({ numbers: [3n, 4n, 5n], toBlock: 5n });
  expect(await search([])).toEqual({ numbers: [], toBlock: 5n });
});
