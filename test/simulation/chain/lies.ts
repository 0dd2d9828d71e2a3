import type { Hex } from 'viem';
import type { Random } from '../world/random.ts';
import type { RpcAnswer, RpcCall } from './answerCall.ts';
import type { RpcReceipt, SealedBlock } from './sealBlock.ts';

/** Methods whose answers no proof covers. The node does not lie about them. */
const honestMethods: ReadonlySet<string> = new Set(['eth_getLogs', 'eth_call']);

/** A false answer; null if the method has none. */
export function lie(
  random: Random,
  blocks: readonly SealedBlock[],
  { method }: RpcCall,
  honest: RpcAnswer,
): RpcAnswer | null {
  if (honestMethods.has(method) || !('result' in honest)) return null;
  if (random.oneOf(6)) return { result: null };
  if (method === 'eth_chainId') return { result: '0x1' };
  if (method === 'eth_getBlockReceipts') return { result: lieAboutReceipts(random, blocks, honest.result) };
  if (method === 'eth_getBlockByNumber') return { result: lieAboutBlock(random, blocks, honest.result) };
  return null;
}

type RpcBlock = Readonly<Record<string, unknown>> & { readonly transactions: readonly unknown[] };

function lieAboutBlock(random: Random, blocks: readonly SealedBlock[], result: unknown): unknown {
  if (result === null) return null;
  // An honest answer to this call.
  const block = result as RpcBlock;
  const { transactions } = block;
  const other = random.pick(blocks);
  switch (random.integer(0, 6)) {
    case 0:
      return { ...other.header, transactions };
    case 1:
      return { ...block, hash: other.hash };
    case 2:
      return { ...block, logsBloom: `0x${'0'.repeat(512)}` };
    case 3:
      return { ...block, timestamp: `0x${random.integer(1, 2 ** 31).toString(16)}` };
    case 4:
      return { ...block, transactions: transactions.slice(0, -1) };
    case 5:
      return { ...block, transactions: transactions.map(changeTransaction) };
    default:
      return { ...block, parentHash: other.hash };
  }
}

/** Changes a transaction so that its hash differs. A hash alone stays unchanged. */
function changeTransaction(transaction: unknown): unknown {
  return typeof transaction === 'object' ? { ...transaction, input: '0x' } : transaction;
}

function lieAboutReceipts(random: Random, blocks: readonly SealedBlock[], result: unknown): unknown {
  if (result === null) return null;
  // An honest answer to this call.
  const receipts = result as readonly RpcReceipt[];
  const changeLogs = (change: (logs: RpcReceipt['logs']) => RpcReceipt['logs']) => {
    const at = random.integer(0, Math.max(0, receipts.length - 1));
    return receipts.map((receipt, index) =>
      index === at ? { ...receipt, logs: change(receipt.logs) } : receipt,
    );
  };
  switch (random.integer(0, 6)) {
    case 0:
      return changeLogs((logs) => logs.slice(0, -1));
    case 1:
      return changeLogs((logs) => [...logs, ...logs.slice(-1)]);
    case 2:
      return changeLogs((logs) => [...logs, ...(random.pick(blocks).receipts[0]?.logs ?? [])]);
    case 3:
      return changeLogs((logs) => logs.toReversed());
    case 4:
      return changeLogs((logs) =>
        logs.map((log) => ({ ...log, data: log.data.replace(/[1-9a-f]$/, '0') as Hex })),
      );
    case 5:
      return receipts.toReversed();
    default:
      return random.pick(blocks).receipts;
  }
}
