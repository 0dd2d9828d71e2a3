import { z } from 'zod';
import type { Inferred } from '../../../machines/inferred.ts';
import { defineFormat } from '../../messages/decodeMessage.ts';
import { isBytes } from '../../schemas/hex.ts';
import { amount, milliseconds } from '../../schemas/stateScalars.ts';
import {
  address,
  blockHash,
  bytes32,
  timestamp,
  transactionHash,
  uint64Decimal,
} from '../../schemas/wireScalars.ts';

/**
 * A span with more blocks or logs than fit is published as several, and a block with more logs in several parts. A part with a single log
 * may be larger, up to NATS's `max_payload`.
 */
export const spanBytesMax = 256 * 1024;
/** No nats-server can be configured to take a larger message, so no span is refused for its size. */
const natsPayloadBytesMax = 64 * 1024 * 1024;

const blockNumber = uint64Decimal;
const index = z.int().min(0);

export const chainLog = z.object({
  address,
  topics: z.array(bytes32).max(4),
  data: z.string().refine(isBytes, 'expected hexadecimal bytes'),
  transactionHash,
  transactionIndex: index,
  logIndex: index,
  /** Set if the log fits into no message of NATS: `data` is then only the beginning of `byteLength` bytes with this Keccak-256 digest. */
  truncated: z.object({ byteLength: index, digest: bytes32 }).optional(),
});

/**
 * A contiguous run of blocks as the indexer publishes it on `miner.chain.<chainId>.span` (MESSAGES.md, Chain span): only
 * blocks that hold logs of the deployment are listed, and the last one's hash and time are always told.
 */
export const chainSpanMessage = z.object({
  /** Core contract of the deployment that was indexed. */
  core: address,
  /** Reorganizations that the stream held before this span. */
  fork: index,
  fromBlock: blockNumber,
  toBlock: blockNumber,
  /** Of `fromBlock`. */
  parentHash: blockHash,
  /** Of `toBlock`. */
  hash: blockHash,
  timestamp,
  blocks: z.array(z.object({ number: blockNumber, hash: blockHash, timestamp, logs: z.array(chainLog) })),
  /** Set where a single block takes several messages; its logs are those of all parts. */
  part: z.object({ index, count: z.int().min(2) }).optional(),
});
export const chainSpanFormat = defineFormat(chainSpanMessage, natsPayloadBytesMax);
export type ChainSpanMessage = Inferred<typeof chainSpanMessage>;
export type ChainLog = Inferred<typeof chainLog>;

/** A block of which at least the hash and the time are known. */
export const knownBlock = z.strictObject({ number: amount, hash: blockHash, timestampMs: milliseconds });

const chainBlock = knownBlock.extend({
  /** Of the deployment's contracts, ascending by index. */
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
  /** Ascending; the last one is `toBlock`. */
  blocks: z.array(chainBlock),
  part: z.strictObject({ index, count: index }).nullable(),
});
export type ChainSpan = Inferred<typeof chainSpan>;

/** The typed span of a message that fits the schema; null when its blocks contradict each other. */
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
  const isEachLogOnce = blocks.every(({ logs }) => isAscendingByIndex(logs));
  const isPartOfOne =
    message.part === undefined || (fromBlock === toBlock && message.part.index < message.part.count);
  if (!isAscending || !isInside || !isLastHash || !isPartOfOne || !isEachLogOnce) return null;
  const { core, fork, parentHash, part = null } = message;
  return { chainId, core, fork, fromBlock, toBlock, parentHash, blocks, part };
}

/** Whether each log stands behind those before it in its block: then none is there twice. */
export function isAscendingByIndex(logs: readonly ChainLog[]): boolean {
  let previous = -1;
  return logs.every(({ logIndex }) => {
    const isBehind = logIndex > previous;
    previous = logIndex;
    return isBehind;
  });
}
