import { createPublicClient, http, type Log, type PublicClient, webSocket } from 'viem';
import type { ChainBlock, ChainLog } from './chainSpan.ts';
import { bloomClaims, bloomOf } from './logsBloom.ts';

const requestMsByDefault = 10_000;
/** Blocks that one request asks for at first; halved when the provider refuses, grown again when it does not. */
const rangeBlocksMax = 10_000n;
/** Blocks of a range that are read at the same time. */
const blocksAtOnce = 8;

/** A block header, as far as it is used. */
export interface BlockHeader {
  readonly number: bigint;
  readonly hash: string;
  readonly parentHash: string;
  readonly timestampMs: number;
  readonly logsBloom: string;
}

/** The provider answered what cannot be true, or no longer is. Asking again later may help. */
export class ProviderInconsistent extends Error {
  override readonly name = 'ProviderInconsistent';
}

/** A node's chain, read with every answer checked against the headers that it gives. Rejects with viem's errors too. */
export interface ChainReader {
  chainId(): Promise<bigint>;
  tip(): Promise<BlockHeader>;
  /** @throws ProviderInconsistent when the node does not have it. */
  header(number: bigint): Promise<BlockHeader>;
  /** All logs of the contracts in one block, proven complete by its bloom. */
  block(header: BlockHeader): Promise<ChainBlock>;
  /**
   * Blocks with logs from `fromBlock` on, through as many as the provider gives at once and at most `toBlock`. That a
   * block without any is left out wrongly cannot be seen from here; that one has too few can.
   */
  range(
    fromBlock: bigint,
    toBlock: bigint,
  ): Promise<{ readonly toBlock: bigint; readonly blocks: readonly ChainBlock[] }>;
}

export interface ChainReaderSettings {
  /** `http(s)` or `ws(s)`. */
  readonly url: string;
  /** Lower case. */
  readonly addresses: readonly string[];
  /** A request that takes longer has failed. */
  readonly requestMs?: number;
}

export function createChainReader(given: ChainReaderSettings): ChainReader {
  const { url, addresses, requestMs = requestMsByDefault } = given;
  const settings = { timeout: requestMs, retryCount: 0 };
  const transport = url.startsWith('ws') ? webSocket(url, settings) : http(url, settings);
  const client: PublicClient = createPublicClient({ transport, cacheTime: 0 });
  const ours = new Set(addresses);
  let rangeBlocks = rangeBlocksMax;

  async function header(number: bigint): Promise<BlockHeader> {
    const found = await client.getBlock({ blockNumber: number }).catch((error: unknown) => {
      if (isNotFound(error)) throw new ProviderInconsistent(`the node has no block ${number}`);
      throw error;
    });
    if (found.number !== number)
      throw new ProviderInconsistent(`asked for block ${number}, given ${found.number}`);
    return headerOf(found);
  }

  async function block(of: BlockHeader): Promise<ChainBlock> {
    const { number, hash, timestampMs } = of;
    if (!addresses.some((address) => bloomClaims(of.logsBloom, address))) {
      return { number, hash, timestampMs, logs: [] };
    }
    const all = (await client.getLogs({ blockHash: hash as `0x${string}` })).map(checkedLog(of));
    if (bloomOf(all) !== of.logsBloom) {
      throw new ProviderInconsistent(
        `the logs of block ${number} (${all.length}) are not those of its bloom`,
      );
    }
    const logs = all.filter(({ address }) => ours.has(address)).sort((a, b) => a.logIndex - b.logIndex);
    return { number, hash, timestampMs, logs };
  }

  async function range(fromBlock: bigint, toBlock: bigint) {
    for (;;) {
      const last = fromBlock + rangeBlocks - 1n < toBlock ? fromBlock + rangeBlocks - 1n : toBlock;
      const logs = await client
        .getLogs({ address: [...addresses] as `0x${string}`[], fromBlock, toBlock: last })
        .catch((error: unknown) => {
          if (last === fromBlock || !isRefusal(error)) throw error;
          rangeBlocks = (last - fromBlock + 1n) / 2n;
          return null;
        });
      if (logs === null) continue;
      const numbers = [...new Set(logs.map((log) => log.blockNumber))].sort((a, b) => (a < b ? -1 : 1));
      if (numbers.some((number) => number < fromBlock || number > last)) {
        throw new ProviderInconsistent(`logs of ${fromBlock} to ${last} hold those of another block`);
      }
      const hashes = new Map<bigint, Set<string | null>>();
      for (const { blockNumber, blockHash } of logs)
        hashes.set(blockNumber, (hashes.get(blockNumber) ?? new Set()).add(blockHash));
      const read = async (number: bigint) => {
        const found = await block(await header(number));
        const given = hashes.get(number) as Set<string | null>;
        if (given.size > 1 || !given.has(found.hash)) {
          throw new ProviderInconsistent(`block ${number} was replaced while it was read`);
        }
        return found;
      };
      const blocks: ChainBlock[] = [];
      for (let from = 0; from < numbers.length; from += blocksAtOnce)
        blocks.push(...(await Promise.all(numbers.slice(from, from + blocksAtOnce).map(read))));
      rangeBlocks = rangeBlocks * 2n < rangeBlocksMax ? rangeBlocks * 2n : rangeBlocksMax;
      return { toBlock: last, blocks };
    }
  }

  return {
    chainId: async () => BigInt(await client.getChainId()),
    tip: async () => headerOf(await client.getBlock({ blockTag: 'latest' })),
    header,
    block,
    range,
  };
}

function headerOf(block: {
  number: bigint | null;
  hash: string | null;
  parentHash: string;
  timestamp: bigint;
  logsBloom: string | null;
}): BlockHeader {
  const { number, hash, parentHash, timestamp, logsBloom } = block;
  if (number === null || hash === null || logsBloom === null) {
    throw new ProviderInconsistent('a block without number, hash or bloom was given');
  }
  return { number, hash, parentHash, timestampMs: Number(timestamp) * 1000, logsBloom };
}

function checkedLog({ number, hash }: BlockHeader) {
  return (log: Log<bigint, number, false>): ChainLog => {
    if (log.blockHash !== hash || log.blockNumber !== number || log.removed) {
      throw new ProviderInconsistent(`a log of block ${number} names another block`);
    }
    const { topics, data, transactionHash, transactionIndex, logIndex } = log;
    return {
      address: log.address.toLowerCase(),
      topics: [...topics],
      data,
      transactionHash,
      transactionIndex,
      logIndex,
    };
  };
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && error.name === 'BlockNotFoundError';
}

/** The provider answered that it does not want to: too many blocks or results, too slow, too often. */
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
