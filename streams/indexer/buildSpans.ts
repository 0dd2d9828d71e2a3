import {
  type ChainBlock,
  type ChainLog,
  type ChainSpanMessage,
  spanBytesMax,
} from '../../actors/chain/chainSpan.ts';
import type { BlockHash } from '../../actors/schemas/hex.ts';
import { type BlockHeader, expectParent } from './blockProof.ts';
import { ProviderInconsistent } from './providerInconsistent.ts';

/** A part's logs, so that the message around them is not too large. */
const logsBytesMax = spanBytesMax - 8 * 1024;

/** Proven blocks from `fromBlock` through `last`, of which `blocks` are those that hold logs. */
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
 * The messages that these blocks become: as many blocks in one as it can hold, and a block that is too large for any in parts of its own.
 *
 * @throws ProviderInconsistent when the branch was replaced before a span could end between two of its blocks.
 */
export async function* buildSpans(
  about: Pick<ChainSpanMessage, 'core' | 'fork'>,
  { fromBlock, parentHash, last, blocks, headerAt }: BlockSpan,
): AsyncGenerator<ChainSpanMessage> {
  let from = fromBlock;
  let parent = parentHash;
  let gathered: ChainBlock[] = [];
  let bytes = 0;
  /** The span of what is gathered; the next one begins after `to`. */
  const close = (to: SpanEnd): ChainSpanMessage => {
    const span = { ...about, ...formatBounds(from, parent, to), blocks: gathered.map(formatBlock) };
    from = to.number + 1n;
    parent = to.hash;
    gathered = [];
    bytes = 0;
    return span;
  };
  for (const block of blocks) {
    const size = estimateBytes(block.logs);
    const before = gathered.at(-1);
    if (before !== undefined && bytes + size > logsBytesMax) yield close(before);
    if (size <= logsBytesMax) {
      gathered.push(block);
      bytes += size;
      continue;
    }
    if (from < block.number) yield close(await readHeaderBefore(block, headerAt));
    yield* buildParts(about, parent, block);
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

/** One block in several spans, each with some of its logs. */
function buildParts(
  about: Pick<ChainSpanMessage, 'core' | 'fork'>,
  parent: BlockHash,
  block: ChainBlock,
): ChainSpanMessage[] {
  return splitLogs(block.logs).map(([index, logs, count]) => ({
    ...about,
    ...formatBounds(block.number, parent, block),
    blocks: [formatBlock({ ...block, logs })],
    part: { index, count },
  }));
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

function estimateBytes(logs: readonly ChainLog[]): number {
  return logs.reduce((sum, log) => sum + JSON.stringify(log).length + 1, 256);
}

function splitLogs(logs: readonly ChainLog[]): [index: number, logs: ChainLog[], count: number][] {
  const parts: ChainLog[][] = [[]];
  let bytes = 0;
  for (const log of logs) {
    const size = JSON.stringify(log).length + 1;
    if (bytes + size > logsBytesMax) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(log);
    bytes += size;
  }
  return parts.map((part, index) => [index, part, parts.length]);
}
