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

it('fewer blocks are searched at once while the node refuses so many', async () => {
  const searched: number[] = [];
  const request = async ({ params: [filter] }: { params: [{ fromBlock: string; toBlock: string }] }) => {
    const blocks = Number(filter.toBlock) - Number(filter.fromBlock) + 1;
    searched.push(blocks);
    if (blocks > 10)
      throw Object.assign(new Error('more than 10000 results'), { name: 'LimitExceededRpcError' });
    return [];
  };
  const { findBlocks } = createLogSearch({ request } as never);
  const next = await findBlocks(0n, 79n, {});
  expect(next).toEqual({ numbers: [], toBlock: 9n });
  await findBlocks(10n, 79n, {});
  expect(searched).toEqual([80, 40, 20, 10, 20, 10]);
});

it('an error that is no refusal ends the search', async () => {
  const request = async () => {
    throw new Error('no answer');
  };
  await expect(createLogSearch({ request } as never).findBlocks(0n, 79n, {})).rejects.toThrow('no answer');
});
