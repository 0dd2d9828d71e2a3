import { z } from 'zod';
import type { Inferred } from '../../../machines/inferred.ts';
import { defineFormat } from '../../messages/decodeMessage.ts';
import { amount, milliseconds } from '../../schemas/stateScalars.ts';
import {
  address,
  blockHash,
  bytes,
  bytes32,
  timestamp,
  transactionHash,
  uint64Decimal,
} from '../../schemas/wireScalars.ts';

/**
 * Larger spans are published as several spans, and a larger block in several parts. Only a part with a single log may be larger, up to the
 * `max_payload` of NATS.
 */
export const spanBytesMax = 256 * 1024;
/** Largest `max_payload` of a nats-server, so no span is refused for its size. */
const natsPayloadBytesMax = 64 * 1024 * 1024;

const blockNumber = uint64Decimal;
const index = z.int().min(0);

export const chainLog = z.object({
  address,
  topics: z.array(bytes32).max(4),
  data: bytes,
  transactionHash,
  transactionIndex: index,
  logIndex: index,
  /** Set if the log is too large for NATS. `data` is then only the beginning. The whole data has this length and this Keccak-256 digest. */
  truncated: z.object({ byteLength: index, digest: bytes32 }).optional(),
});

/**
 * Consecutive blocks, as the indexer publishes them on `miner.chain.<chainId>.span` (MESSAGES.md, Chain span). `blocks` lists only blocks
 * with logs of the deployment; hash and time of the last block are always present.
 */
export const chainSpanMessage = z.object({
  core: address,
  /** Number of reorganizations in the stream before this span. */
  fork: index,
  fromBlock: blockNumber,
  toBlock: blockNumber,
  /** Parent of `fromBlock`. */
  parentHash: blockHash,
  /** Hash of `toBlock`. */
  hash: blockHash,
  timestamp,
  blocks: z.array(z.object({ number: blockNumber, hash: blockHash, timestamp, logs: z.array(chainLog) })),
  /** Set if the logs of a single block take several messages. */
  part: z.object({ index, count: z.int().min(2) }).optional(),
});
export const chainSpanFormat = defineFormat(chainSpanMessage, natsPayloadBytesMax);
export type ChainSpanMessage = Inferred<typeof chainSpanMessage>;
export type ChainLog = Inferred<typeof chainLog>;

export const knownBlock = z.strictObject({ number: amount, hash: blockHash, timestampMs: milliseconds });

const chainBlock = knownBlock.extend({
  /** Logs of the deployment's contracts, ascending by index. */
  logs: z.array(chainLog),
});
export type ChainBlock = Inferred<typeof chainBlock>;

export const chainSpan = z.strictObject({
  chainId: amount,
  core: address,
  fork: index,
  fromBlock: amount,
  toBlock: amount,
  parentHash: blockHash,
  /** Ascending; the last block is `toBlock`. */
  blocks: z.array(chainBlock),
  part: z.strictObject({ index, count: index }).nullable(),
});
export type ChainSpan = Inferred<typeof chainSpan>;

/** The typed span of a message that fits the schema; null if its blocks contradict each other. */
export function toChainSpan(chainId: bigint, message: ChainSpanMessage): ChainSpan | null {
  const fromBlock = BigInt(message.fromBlock);
  const toBlock = BigInt(message.toBlock);
  const listed = message.blocks.map(({ number, hash, timestamp: time, logs }) => ({
    number: BigInt(number),
    hash,
    timestampMs: Date.parse(time),
    logs,
  }));
  const last = { number: toBlock, hash: message.hash, timestampMs: Date.parse(message.timestamp), logs: [] };
  const blocks: ChainBlock[] = listed.at(-1)?.number === toBlock ? listed : [...listed, last];
  const isAscending = blocks.every((block, at) => at === 0 || block.number > (blocks[at - 1]?.number ?? 0n));
  const isInside = blocks.every(({ number }) => number >= fromBlock && number <= toBlock);
  const isLastHash = blocks.at(-1)?.hash === message.hash;
  const areLogsAscending = blocks.every(({ logs }) => isAscendingByIndex(logs));
  const isPartOfOneBlock =
    message.part === undefined || (fromBlock === toBlock && message.part.index < message.part.count);
  if (!isAscending || !isInside || !isLastHash || !isPartOfOneBlock || !areLogsAscending) return null;
  const { core, fork, parentHash, part = null } = message;
  return { chainId, core, fork, fromBlock, toBlock, parentHash, blocks, part };
}

/** Whether log indexes are strictly ascending, so that no log occurs twice. */
export function isAscendingByIndex(logs: readonly ChainLog[]): boolean {
  let previous = -1;
  return logs.every(({ logIndex }) => {
    const isAfterPrevious = logIndex > previous;
    previous = logIndex;
    return isAfterPrevious;
  });
}
