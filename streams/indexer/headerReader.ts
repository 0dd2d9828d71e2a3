import { TimeoutError } from 'viem';
import { type BlockHeader, expectParent, proveHeader } from './blockProof.ts';
import { mapConcurrently } from './mapConcurrently.ts';
import { type NodeClient, type NodeClients, toQuantity } from './nodeClient.ts';
import { ProviderInconsistent } from './providerInconsistent.ts';

/** Headers requested in one batch: fewer after a failure, then slowly more. */
export const headersAtOnceMax = 64;

/** A node's headers, each proven to hash to its hash. Also rejects with viem's errors. */
export function createHeaderReader({ client, batchingClient }: NodeClients) {
  let headersAtOnce = headersAtOnceMax;
  /** A batch that is left unanswered costs a whole time-out, so none as large is tried again. */
  let answeredMax = headersAtOnceMax;

  /** @throws ProviderInconsistent when the node does not have the block. */
  async function readFrom(from: NodeClient, number: bigint): Promise<BlockHeader> {
    const answer = await from.request({
      method: 'eth_getBlockByNumber',
      params: [toQuantity(number), false],
    });
    if (answer === null) throw new ProviderInconsistent(`the node has no block ${number}`);
    const proven = proveHeader(answer);
    if (proven.number !== number)
      throw new ProviderInconsistent(
        `block ${number} was requested, but the node returned block ${proven.number}`,
      );
    return proven;
  }

  /**
   * Reads the next headers after a block, up to `to` at most.
   *
   * @throws ProviderInconsistent when a header does not name its predecessor as its parent.
   */
  async function readAfter(before: Pick<BlockHeader, 'number' | 'hash'>, to: bigint): Promise<BlockHeader[]> {
    const count = Math.min(headersAtOnce, Number(to - before.number));
    const numbers = Array.from({ length: count }, (_, index) => before.number + 1n + BigInt(index));
    // A single request is not batched, so every provider understands it.
    const from = count === 1 ? client : batchingClient;
    try {
      const headers = await mapConcurrently(numbers, count, (number) => readFrom(from, number));
      for (const [index, one] of headers.entries()) expectParent(one, headers[index - 1] ?? before);
      headersAtOnce = Math.min(answeredMax, Math.max(headersAtOnce, Math.ceil(count * 1.25)));
      return headers;
    } catch (error) {
      if (error instanceof ProviderInconsistent) throw error;
      // Even a single request was refused: the provider is unavailable, and the size of the batch was not the reason.
      headersAtOnce = count === 1 ? headersAtOnceMax : Math.ceil(count / 4);
      if (count === 1 || error instanceof TimeoutError) answeredMax = headersAtOnce;
      if (count === 1) throw error;
      return readAfter(before, to);
    }
  }

  return {
    newest: async () =>
      proveHeader(await client.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })),
    read: (number: bigint) => readFrom(client, number),
    readAfter,
  };
}
