import { describe, expect, it } from 'vitest';
import { proveHeader, proveLogs } from '../../streams/indexer/blockProof.ts';
import { createReceiptReader } from '../../streams/indexer/receiptReader.ts';
import { answerCall, type RpcAnswer } from '../simulation/chain/answerCall.ts';
import { createEthereumChain } from '../simulation/chain/ethereumNode.ts';
import type { RpcReceipt } from '../simulation/chain/sealBlock.ts';

const together = 'eth_getBlockReceipts';
const alone = 'eth_getTransactionReceipt';

/** A reader of the receipts in block 3 of a node. `fail` returns what a request is rejected with, if anything. */
async function createReader(fail: (method: string) => unknown) {
  const { blocks } = await createEthereumChain(1_000_000n, 900_000n);
  const receipts = new Map(
    blocks.flatMap((block) => block.receipts.map((one) => [one.transactionHash, one])),
  );
  const asked: string[] = [];
  const request = async ({ method, params }: { method: string; params: readonly unknown[] }) => {
    asked.push(method);
    const error = fail(method);
    if (error !== undefined) throw error;
    if (method === alone) return receipts.get(params[0] as never);
    const answer: RpcAnswer = answerCall(blocks, { id: 1, method, params });
    return 'result' in answer ? answer.result : null;
  };
  const header = proveHeader(await request({ method: 'eth_getBlockByNumber', params: ['0x3', false] }));
  asked.length = 0;
  const reader = createReceiptReader({ request } as never);
  const read = async () => await proveLogs(header, await reader.read(header));
  return { read, asked, header, receipts: blocks[3]?.receipts ?? [] };
}

describe('receipts', () => {
  it.each([
    { code: -32_601 },
    { code: -32_004 },
    { code: -32_600 },
    { code: -32_001 },
    { code: -32_000 },
    { code: 4_444 },
    { status: 403 },
  ])('are requested one by one if the node refuses a block of them with %o', async (refusal) => {
    let isRefused = true;
    const { read, asked, header, receipts } = await createReader((method) =>
      isRefused && method === together ? refusal : undefined,
    );
    const logs = await read();
    expect(logs).toEqual(await proveLogs(header, receipts));
    expect(logs.length).toBeGreaterThan(0);
    expect(asked).toEqual([together, 'eth_getBlockByNumber', ...receipts.map(() => alone)]);
    // The refusal may have been for a moment only, so the node is asked again after a while.
    isRefused = false;
    for (let block = 0; block < 100; block++) await read();
    expect(asked.filter((method) => method === together)).toHaveLength(1);
    await read();
    expect(asked.at(-1)).toBe(together);
  });

  it.each([{ code: 429 }, { status: 429 }, { name: 'TimeoutError' }, new TypeError('fetch failed')])(
    'are not requested otherwise after %o, which says nothing about the method',
    async (failure) => {
      const { read, asked } = await createReader((method) => (method === together ? failure : undefined));
      await expect(read()).rejects.toBe(failure);
      expect(asked).toEqual([together]);
    },
  );

  it('that a node refuses in both ways lead to another node', async () => {
    const { read } = await createReader((method) => (/Receipt/.test(method) ? { code: -32_601 } : undefined));
    await expect(read()).rejects.toThrow(/MINER_RPC_URL.*eth_getBlockReceipts.*eth_getTransactionReceipt/);
  });

  it.each<[string, (receipt: RpcReceipt) => object]>([
    ['an empty root', (receipt) => ({ ...receipt, root: '0x' })],
    ['a root in addition to the status', (receipt) => ({ ...receipt, root: `0x${'7'.repeat(64)}` })],
  ])('prove logs if the node gives them %s', async (_what, change) => {
    const { header, receipts } = await createReader(() => undefined);
    expect(await proveLogs(header, receipts.map(change))).toEqual(await proveLogs(header, receipts));
  });

  it('leave other work its turns while thousands are hashed', async () => {
    const { header, receipts } = await createReader(() => undefined);
    let turns = 0;
    const countTurns = () => {
      turns++;
      next = setImmediate(countTurns);
    };
    let next = setImmediate(countTurns);
    const many = Array.from({ length: 2_000 }, () => receipts[0]);
    await expect(proveLogs(header, many)).rejects.toThrow('the 2000 receipts of block 3 have the root');
    clearImmediate(next);
    expect(turns).toBeGreaterThan(20);
  });

  it('that do not fit are refused with the first misfit, however many there are', async () => {
    const { header } = await createReader(() => undefined);
    const answer = Array.from({ length: 500_000 }, () => ({}));
    const error = await proveLogs(header, answer).catch(({ message }: Error) => message);
    expect(error).toMatch(/^the receipts of block 3: 0\.cumulativeGasUsed: expected/);
    expect(String(error).length).toBeLessThan(1_000);
  });
});
