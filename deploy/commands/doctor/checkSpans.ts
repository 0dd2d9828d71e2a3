import type { JetStreamManager } from '@nats-io/jetstream';
import type { ChainLog, ChainSpan } from '../../../actors/chain/chainSpan.ts';
import { confirmations } from '../../../actors/chain/confirmations.ts';
import { decodeChain } from '../../../actors/chain/decodeChain.ts';
import { spanSubject } from '../../../actors/messages/subjects.ts';
import { readErrorMessage } from '../../../actors/readErrorMessage.ts';
import type { ChainDeployment } from '../../../actors/views/chainViews.ts';
import { createChainReader } from '../../../streams/indexer/chainReader.ts';
import { type Finding, failed, ok, skipped } from '../../diagnosis/finding.ts';
import { createProgress } from '../progress.ts';

export interface SpanCheck {
  readonly jsm: JetStreamManager;
  readonly onChain: ChainDeployment;
  readonly rpcUrl: string;
  readonly fromBlock: bigint;
  readonly progressStream: NodeJS.WriteStream;
}

/** Proves the stream's spans again with the node, from a block through the newest safe one. */
export async function checkSpans(check: SpanCheck): Promise<Finding[]> {
  const { jsm, onChain, rpcUrl, progressStream } = check;
  const { deploymentBlock } = onChain.chain;
  const isBeforeAll = check.fromBlock < deploymentBlock;
  const fromBlock = isBeforeAll ? deploymentBlock : check.fromBlock;
  const { blocks, head, refused } = await readPublishedBlocks(jsm, onChain);
  const toBlock = (head ?? 0n) - confirmations + 1n;
  if (refused !== null && refused >= fromBlock)
    return [reportWrongBlock(refused, 'a span that begins with it cannot be read')];
  if (head === null || toBlock < fromBlock) return [skipped('spans', 'no safe block is published yet')];
  const reader = createChainReader({
    url: rpcUrl,
    addresses: Object.values(onChain.contracts),
    proofs: 'all',
  });
  const total = Number(toBlock - fromBlock) + 1;
  const progress = createProgress({
    label: 'proving',
    unit: 'blocks',
    total,
    stream: progressStream,
    nowMs: Date.now,
  });
  let logs = 0;
  try {
    for (let next = fromBlock; next <= toBlock; ) {
      const { last, blocks: proven } = await reader.range(await reader.header(next), toBlock);
      const own = new Map(proven.map((block) => [block.number, block]));
      for (let number = next; number <= last.number; number++) {
        const published = blocks.get(number);
        const { hash = published?.hash, logs: ownLogs = [] } = own.get(number) ?? {};
        const isSame = formatLogs(published?.logs ?? []) === formatLogs(ownLogs) && published?.hash === hash;
        if (!isSame) return [reportWrongBlock(number, describeDifference(published?.logs ?? [], ownLogs))];
        logs += ownLogs.length;
      }
      next = last.number + 1n;
      progress.update(Number(next - fromBlock));
    }
  } catch (error) {
    const [problem = ''] = readErrorMessage(error).split('\n', 1);
    return [failed('spans', problem, 'the node cannot prove it: set MINER_RPC_URL to another one')];
  } finally {
    progress.stop();
  }
  return [ok('spans', `blocks ${fromBlock} to ${toBlock} and their ${logs} logs are those of the chain`)];
}

interface Published {
  readonly blocks: ReadonlyMap<bigint, { readonly hash: string; readonly logs: readonly ChainLog[] }>;
  readonly head: bigint | null;
  /** First block of a refused span that was not replaced; null if there is none. */
  readonly refused: bigint | null;
}

/** The blocks that the stream's spans contain, linked as the fold links them. */
async function readPublishedBlocks(jsm: JetStreamManager, onChain: ChainDeployment): Promise<Published> {
  const { chainId, deploymentBlock } = onChain.chain;
  const blocks = new Map<bigint, { hash: string; logs: readonly ChainLog[] }>();
  const published = { blocks, head: null as bigint | null, refused: null as bigint | null };
  let forks = 0;
  const links = ({ fromBlock, toBlock, parentHash, fork, part }: ChainSpan) => {
    if (part !== null && part.index > 0) return published.head === toBlock;
    const isNewer = published.head === null || toBlock > published.head || fork > forks;
    const isBeginning = fromBlock === deploymentBlock && (published.head === null || fork > forks);
    return isBeginning || (isNewer && blocks.get(fromBlock - 1n)?.hash === parentHash);
  };
  const take = (span: ChainSpan) => {
    const isLaterPart = span.part !== null && span.part.index > 0;
    if (!isLaterPart) for (const number of blocks.keys()) if (number >= span.fromBlock) blocks.delete(number);
    for (const { number, hash, logs } of span.blocks) {
      const before = isLaterPart ? (blocks.get(number)?.logs ?? []) : [];
      blocks.set(number, { hash, logs: [...before, ...logs] });
    }
    published.head = span.toBlock;
    forks = Math.max(forks, span.fork);
    if (published.refused !== null && span.fromBlock <= published.refused) published.refused = null;
  };
  const { state } = await jsm.streams.info('MINER_CHAIN');
  for (let seq = state.first_seq; seq <= state.last_seq && seq > 0; seq++) {
    const stored = await jsm.streams.getMessage('MINER_CHAIN', { seq });
    if (stored?.subject !== spanSubject(chainId)) continue;
    const decoded = decodeChain(stored.subject, stored.data);
    if (decoded === null) continue;
    if ('rejection' in decoded) published.refused ??= (published.head ?? deploymentBlock - 1n) + 1n;
    else if (decoded.value.core === onChain.contracts.core && links(decoded.value)) take(decoded.value);
  }
  return published;
}

function reportWrongBlock(block: bigint, what: string): Finding {
  return failed(
    'spans',
    `block ${block} was published incorrectly: ${what}`,
    `publish it again: npm run miner -- index --from-block ${block}`,
  );
}

function describeDifference(published: readonly ChainLog[], own: readonly ChainLog[]): string {
  if (published.length === own.length) return `its ${own.length} logs differ`;
  return `${published.length} logs were published, the chain has ${own.length}`;
}

function formatLogs(logs: readonly ChainLog[]): string {
  return JSON.stringify(
    logs.map(({ address, topics, data, transactionHash, transactionIndex, logIndex }) => [
      address,
      topics,
      data,
      transactionHash,
      transactionIndex,
      logIndex,
    ]),
  );
}
