import { describe, expect, it } from 'vitest';
import { createChainReader } from '../../streams/indexer/chainReader.ts';
import { answerCall } from '../simulation/chain/answerCall.ts';
import { serveChains, writeChain } from '../support/chain/writtenNode.ts';

const chain = await writeChain(Array.from({ length: 400 }, () => []));

/** A reader of a node that refuses batches, with the sizes of the batches it sent. */
async function createReader(refuse: (calls: number) => ReturnType<Node['onBatch']>) {
  const [node] = serveChains(chain) as [Node];
  const batches: number[] = [];
  node.onBatch = ({ length }) => {
    batches.push(length);
    return refuse(length);
  };
  const reader = createChainReader({ url: node.url, addresses: [], requestMs: 50 });
  const read = async (from: bigint, to: bigint) =>
    (await reader.range(await reader.header(from), to)).last.number;
  return { read, batches };
}

type Node = ReturnType<typeof serveChains>[number];

describe('headers', () => {
  it.each([1n, 2n, 3n, 4n, 5n])(
    'are read after %s blocks from a provider that refuses batches',
    async (count) => {
      const { read } = await createReader(() => ({ status: 413 }));
      expect(await read(2n, 2n + count)).toBe(2n + count);
    },
  );

  it.each([
    ['refuses more than 12 calls', { status: 413 }],
    ['answers more than 12 calls with no list', { error: { code: -32_600, message: 'no batches' } }],
  ] as const)('are requested in small batches from a provider that %s', async (_what, fate) => {
    const { read, batches } = await createReader((calls) => (calls > 12 ? fate : null));
    expect(await read(1n, 399n)).toBe(399n);
    expect(batches.slice(0, 3)).toEqual([64, 16, 4]);
    expect(batches.filter((calls) => calls > 12).length).toBeLessThan(batches.length / 4);
  });

  it('are requested in large batches again after a provider has recovered', async () => {
    let isRefusing = true;
    const { read, batches } = await createReader(() => (isRefusing ? { status: 502 } : null));
    await read(1n, 4n);
    isRefusing = false;
    await read(5n, 399n);
    expect(Math.max(...batches.slice(-3))).toBeGreaterThan(40);
  });

  it('are not requested again in batches that a provider left unanswered', async () => {
    const { read, batches } = await createReader((calls) => (calls > 1 ? 'silence' : null));
    expect(await read(1n, 60n)).toBe(60n);
    expect(batches).toEqual([59, 15, 4]);
  });

  it('with a right hash are refused if their parent is another block', async () => {
    const branch = await writeChain([[], []], { salt: 1n, shared: chain.slice(0, 1) });
    const [node] = serveChains(chain) as [Node];
    node.onCall = (call) => (call.params?.[0] === '0x1' ? answerCall(branch, call) : null);
    const reader = createChainReader({ url: node.url, addresses: [] });
    await expect(reader.range(await reader.header(0n), 5n)).rejects.toThrow(
      'block 2 does not name block 1 as its parent',
    );
  });
});
