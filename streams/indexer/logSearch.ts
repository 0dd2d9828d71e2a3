import { z } from 'zod';
import { type NodeClient, toQuantity } from './nodeClient.ts';
import { ProviderInconsistent } from './providerInconsistent.ts';

/** Maximum number of blocks in one request for logs. The number is halved when the provider refuses, and doubled again when it does not. */
const rangeBlocksMax = 10_000n;

const namedBlocks = z.array(
  z.object({
    blockNumber: z
      .string()
      .regex(/^0x[0-9a-f]{1,16}$/)
      .transform(BigInt),
  }),
);

/** Finds the blocks that hold logs according to the node. */
export function createLogSearch(client: NodeClient) {
  let rangeBlocks = rangeBlocksMax;

  /** Searches from `fromBlock` as far as the node answers at once, at most through `toBlock`. The result's `toBlock` is the last block searched. */
  async function findBlocks(
    fromBlock: bigint,
    toBlock: bigint,
    about: object,
  ): Promise<{ readonly numbers: bigint[]; readonly toBlock: bigint }> {
    const to = fromBlock + rangeBlocks - 1n;
    const last = to < toBlock ? to : toBlock;
    const filter = { ...about, fromBlock: toQuantity(fromBlock), toBlock: toQuantity(last) };
    try {
      const answer = await client.request({ method: 'eth_getLogs', params: [filter] });
      const numbers = parseBlockNumbers(answer, fromBlock, last);
      rangeBlocks = rangeBlocks * 2n < rangeBlocksMax ? rangeBlocks * 2n : rangeBlocksMax;
      return { numbers, toBlock: last };
    } catch (error) {
      if (last === fromBlock || !isRefusal(error)) throw error;
      rangeBlocks = (last - fromBlock + 1n) / 2n;
      return findBlocks(fromBlock, toBlock, about);
    }
  }

  return { findBlocks };
}

/**
 * Distinct block numbers of the logs, ascending.
 *
 * @throws ProviderInconsistent
 */
function parseBlockNumbers(answer: unknown, fromBlock: bigint, toBlock: bigint): bigint[] {
  const named = namedBlocks.safeParse(answer);
  if (!named.success)
    throw new ProviderInconsistent(`a log of blocks ${fromBlock} to ${toBlock} names no block`);
  const numbers = [...new Set(named.data.map(({ blockNumber }) => blockNumber))];
  if (numbers.some((number) => number < fromBlock || number > toBlock))
    throw new ProviderInconsistent(
      `the logs of blocks ${fromBlock} to ${toBlock} include a log of another block`,
    );
  return numbers.sort((a, b) => (a < b ? -1 : 1));
}

/** Whether the provider refused the request: too many blocks or results, too slow, or too frequent. */
function isRefusal(error: unknown): boolean {
  const name = error instanceof Error ? error.name : '';
  return [
    'RpcRequestError',
    'LimitExceededRpcError',
    'InvalidParamsRpcError',
    'InternalRpcError',
    'InvalidInputRpcError',
    'HttpRequestError',
    'TimeoutError',
    'UnknownRpcError',
  ].includes(name);
}
