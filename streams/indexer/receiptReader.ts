import type { TransactionHash } from '../../actors/schemas/hex.ts';
import { type BlockHeader, proveTransactionHashes } from './blockProof.ts';
import { mapConcurrently } from './mapConcurrently.ts';
import { type NodeClient, toQuantity } from './nodeClient.ts';
import { ProviderInconsistent } from './providerInconsistent.ts';

/** Receipts of one block that are requested at the same time if the node cannot return them together. */
const receiptsAtOnce = 8;

/** Reads the receipts that prove the logs of a block. */
export function createReceiptReader(client: NodeClient) {
  let hasBlockReceipts = true;

  async function transactionHashes(of: BlockHeader): Promise<TransactionHash[]> {
    const params: [string, boolean] = [toQuantity(of.number), true];
    return proveTransactionHashes(of, await client.request({ method: 'eth_getBlockByNumber', params }));
  }

  /** All receipts of the block, as the node returns them: together, or one by one if the node does not support that. */
  async function read(of: BlockHeader): Promise<unknown> {
    if (hasBlockReceipts) {
      try {
        const params: [string] = [toQuantity(of.number)];
        return await client.request({ method: 'eth_getBlockReceipts', params });
      } catch (error) {
        if (!isUnknownMethod(error)) throw error;
        hasBlockReceipts = false;
      }
    }
    const hashes = await transactionHashes(of);
    try {
      return await mapConcurrently(hashes, receiptsAtOnce, (hash) =>
        client.request({ method: 'eth_getTransactionReceipt', params: [hash] }),
      );
    } catch (error) {
      if (!isUnknownMethod(error)) throw error;
      throw new ProviderInconsistent(
        'the node of MINER_RPC_URL answers neither eth_getBlockReceipts nor eth_getTransactionReceipt. Without them no log can be proven: set it to another node',
        { cause: error },
      );
    }
  }

  return { read, transactionHashes };
}

function isUnknownMethod(error: unknown): boolean {
  const name = error instanceof Error ? error.name : '';
  return ['MethodNotFoundRpcError', 'MethodNotSupportedRpcError'].includes(name);
}
