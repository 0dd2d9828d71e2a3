import type { TransactionHash } from '../../actors/schemas/hex.ts';
import { type BlockHeader, proveTransactionHashes } from './blockProof.ts';
import { mapConcurrently } from './mapConcurrently.ts';
import { isRefusal, type NodeClient, toQuantity } from './nodeClient.ts';
import { ProviderInconsistent } from './providerInconsistent.ts';

/** Receipts of one block that are requested at the same time if the node cannot return them together. */
const receiptsAtOnce = 8;
/** Blocks whose receipts are requested one by one after a refusal, which may have been for a moment only. */
const blocksAfterRefusal = 100;

/** Reads the receipts that prove the logs of a block. */
export function createReceiptReader(client: NodeClient) {
  /** Blocks until receipts are requested together again. */
  let blocksAlone = 0;

  async function transactionHashes(of: BlockHeader): Promise<TransactionHash[]> {
    const params: [string, boolean] = [toQuantity(of.number), true];
    return proveTransactionHashes(of, await client.request({ method: 'eth_getBlockByNumber', params }));
  }

  /** All receipts of the block, as the node returns them: together, or one by one if it refuses that. */
  async function read(of: BlockHeader): Promise<unknown> {
    if (blocksAlone > 0) blocksAlone--;
    else {
      try {
        const params: [string] = [toQuantity(of.number)];
        return await client.request({ method: 'eth_getBlockReceipts', params });
      } catch (error) {
        if (!isRefusal(error)) throw error;
        blocksAlone = blocksAfterRefusal;
      }
    }
    const hashes = await transactionHashes(of);
    try {
      return await mapConcurrently(hashes, receiptsAtOnce, (hash) =>
        client.request({ method: 'eth_getTransactionReceipt', params: [hash] }),
      );
    } catch (error) {
      blocksAlone = 0;
      if (!isRefusal(error)) throw error;
      throw new ProviderInconsistent(
        'the node of MINER_RPC_URL refuses both eth_getBlockReceipts and eth_getTransactionReceipt. Without them no log can be proven: set it to another node',
        { cause: error },
      );
    }
  }

  return { read, transactionHashes };
}
