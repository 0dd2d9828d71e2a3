import { keccak256 } from 'viem/utils';
import {
  type ChainBlock,
  type ChainLog,
  type ChainSpanMessage,
  spanBytesMax,
} from '../../actors/chain/spans/chainSpan.ts';
import type { BlockHash } from '../../actors/schemas/hex.ts';
import { type BlockHeader, expectParent } from './blockProof.ts';
import { ProviderInconsistent } from './providerInconsistent.ts';

/** Bytes of a span's message and headers without its logs. */
export const envelopeBytesMax = 2 * 1024;
/** Bytes kept of a log that fits no message. They hold fixed-size arguments, lists of 32 tokens, and the call that shows an upgrade. */
const truncatedDataBytes = 2048;

/** Proven blocks from `fromBlock` through `last`; `blocks` hold logs. */
export interface BlockSpan {
  readonly fromBlock: bigint;
  readonly parentHash: BlockHash;
  readonly last: SpanEnd;
  readonly blocks: readonly ChainBlock[];
  /** A header of the same branch; called if a span has to end before a block. */
  readonly headerAt: (number: bigint) => Promise<BlockHeader>;
}

type SpanEnd = Pick<BlockHeader, 'number' | 'hash' | 'timestampMs'>;

/**
 * Builds the messages for these blocks. Each holds as many blocks as fit; a block that fits no message is divided into parts.
 *
 * @param messageBytesMax bytes of the largest message that NATS takes; a larger log is truncated.
 * @throws ProviderInconsistent when the branch was replaced before a span could end between two of its blocks.
 */
export async function* buildSpans(
  about: Pick<ChainSpanMessage, 'core' | 'fork'>,
  { fromBlock, parentHash, last, blocks, headerAt }: BlockSpan,
  messageBytesMax: number,
): AsyncGenerator<ChainSpanMessage> {
  const logBytesMax = messageBytesMax - envelopeBytesMax;
  const logsBytesMax = Math.min(spanBytesMax - envelopeBytesMax, logBytesMax);
  let from = fromBlock;
  let parent = parentHash;
  let gathered: ChainBlock[] = [];
  let bytes = 0;
  /** Ends the gathered span at `to`; the next one begins after it. */
  const close = (to: SpanEnd): ChainSpanMessage => {
    const span = { ...about, ...formatBounds(from, parent, to), blocks: gathered.map(formatBlock) };
    from = to.number + 1n;
    parent = to.hash;
    gathered = [];
    bytes = 0;
    return span;
  };
  for (const block of blocks) {
    const size = block.logs.reduce((sum, log) => sum + countBytes(log), 256);
    const before = gathered.at(-1);
    if (before !== undefined && bytes + size > logsBytesMax) yield close(before);
    if (size <= logsBytesMax) {
      gathered.push(block);
      bytes += size;
      continue;
    }
    if (from < block.number) yield close(await readHeaderBefore(block, headerAt));
    const fitting = {
      ...block,
      logs: block.logs.map((log) => (countBytes(log) <= logBytesMax ? log : truncateLog(log))),
    };
    const bounds = { ...about, ...formatBounds(block.number, parent, block) };
    yield* buildParts(bounds, fitting, logsBytesMax);
    from = block.number + 1n;
    parent = block.hash;
  }
  if (from <= last.number) yield close(last);
}

async function readHeaderBefore(block: ChainBlock, headerAt: BlockSpan['headerAt']): Promise<BlockHeader> {
  const before = await headerAt(block.number - 1n);
  const own = await headerAt(block.number);
  expectParent(own, before);
  if (own.hash !== block.hash)
    throw new ProviderInconsistent(`block ${block.number} was replaced while it was read`);
  return before;
}

/** Builds several spans for one block, each with some of its logs. */
function buildParts(
  bounds: Omit<ChainSpanMessage, 'blocks' | 'part'>,
  block: ChainBlock,
  logsBytesMax: number,
): ChainSpanMessage[] {
  const parts = splitLogs(block.logs, logsBytesMax);
  return parts.map((logs, index) => ({
    ...bounds,
    blocks: [formatBlock({ ...block, logs })],
    ...(parts.length > 1 && { part: { index, count: parts.length } }),
  }));
}

/** Returns the log with only the beginning of its data, for a log that fits no message. */
function truncateLog(log: ChainLog): ChainLog {
  const byteLength = (log.data.length - 2) / 2;
  return {
    ...log,
    data: `0x${log.data.slice(2, 2 + 2 * truncatedDataBytes)}`,
    truncated: { byteLength, digest: keccak256(log.data) },
  };
}

function formatBounds(fromBlock: bigint, parentHash: BlockHash, to: SpanEnd) {
  return {
    fromBlock: fromBlock.toString(),
    toBlock: to.number.toString(),
    parentHash,
    hash: to.hash,
    timestamp: new Date(to.timestampMs).toISOString(),
  };
}

function formatBlock({ number, hash, timestampMs, logs }: ChainBlock): ChainSpanMessage['blocks'][number] {
  return { number: number.toString(), hash, timestamp: new Date(timestampMs).toISOString(), logs: [...logs] };
}

function countBytes(log: ChainLog): number {
  return JSON.stringify(log).length + 1;
}

/** Divides logs into parts of at most `bytesMax`; a larger part has a single log. */
function splitLogs(logs: readonly ChainLog[], bytesMax: number): ChainLog[][] {
  const parts: ChainLog[][] = [[]];
  let bytes = 0;
  for (const log of logs) {
    const size = countBytes(log);
    if (bytes > 0 && bytes + size > bytesMax) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(log);
    bytes += size;
  }
  return parts;
}
