import type { Logger } from 'pino';
import type { ChainBlock, ChainLog, ChainSpan } from '../../../actors/chain/spans/chainSpan.ts';
import { confirmations } from '../../../actors/chain/spans/confirmations.ts';
import { decodeChain } from '../../../actors/chain/spans/decodeChain.ts';
import { linkSpan } from '../../../actors/chain/spans/linkSpan.ts';
import { joinParts, type SpanParts } from '../../../actors/chain/spans/spanParts.ts';
import type { StreamMessage } from '../../../actors/messages/streamMessage.ts';
import { spanSubject } from '../../../actors/messages/subjects.ts';
import { readErrorMessage } from '../../../actors/readErrorMessage.ts';
import type { ChainDeployment } from '../../../actors/views/chain/chainDeployment.ts';
import { truncateLog } from '../../../streams/indexer/buildSpans.ts';
import { createChainReader } from '../../../streams/indexer/chainReader.ts';
import { startOfStream } from '../../../streams/jetstream/proofs/streamPosition.ts';
import { createStreamVerifier } from '../../../streams/jetstream/proofs/streamVerifier.ts';
import { createMessageSource } from '../../../streams/jetstream/source/messageSource.ts';
import type { JetStream } from '../../../streams/nats/natsLink.ts';
import { createGate } from '../../../streams/operators/gate.ts';
import { type Finding, failed, ok, skipped } from '../../diagnosis/finding.ts';
import { createProgress } from '../../process/progress.ts';
import { systemClock } from '../../process/systemClock.ts';

interface SpanCheck extends JetStream {
  readonly onChain: ChainDeployment;
  readonly rpcUrl: string;
  readonly fromBlock: bigint;
  readonly logger: Logger;
}

/** Proves the stream's spans again with the node, from a block through the newest safe one. */
export async function checkSpans(check: SpanCheck): Promise<Finding[]> {
  const { onChain, rpcUrl } = check;
  const { deploymentBlock } = onChain.chain;
  const isBeforeAll = check.fromBlock < deploymentBlock;
  const fromBlock = isBeforeAll ? deploymentBlock : check.fromBlock;
  const { blocks, head, refused } = await readPublishedBlocks(check);
  const toBlock = (head ?? 0n) - confirmations + 1n;
  if (refused !== null && refused >= fromBlock)
    return [reportWrongBlock(refused, 'a span that begins with it cannot be read')];
  if (head === null || toBlock < fromBlock) return [skipped('spans', 'no safe block is published yet')];
  const reader = createChainReader({ url: rpcUrl, addresses: Object.values(onChain.contracts) });
  const total = Number(toBlock - fromBlock) + 1;
  const progress = createProgress({ label: 'proving', unit: 'blocks', total });
  let logs = 0;
  try {
    for (let next = fromBlock; next <= toBlock; ) {
      const { last, blocks: proven } = await reader.range(await reader.header(next), toBlock);
      const own = new Map(proven.map((block) => [block.number, block]));
      for (let number = next; number <= last.number; number++) {
        const published = blocks.get(number);
        const { hash = published?.hash, logs: ownLogs = [] } = own.get(number) ?? {};
        const publishedLogs = published?.logs ?? [];
        const expectedLogs = ownLogs.map((log, at) =>
          publishedLogs[at]?.truncated === undefined ? log : truncateLog(log),
        );
        const isSame = formatLogs(publishedLogs) === formatLogs(expectedLogs) && published?.hash === hash;
        if (!isSame) return [reportWrongBlock(number, describeDifference(publishedLogs, ownLogs))];
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
  return [ok('spans', `blocks ${fromBlock} to ${toBlock} and their ${logs} logs match the chain`)];
}

/** Reads the blocks of the stream's spans, joined and linked as in the fold. */
async function readPublishedBlocks({ onChain, ...nats }: SpanCheck) {
  const { deploymentBlock } = onChain.chain;
  const { state } = await nats.jsm.streams.info('MINER_CHAIN');
  /** Ascending. */
  const blocks: ChainBlock[] = [];
  let forks = 0;
  let parts: SpanParts | null = null;
  /** First block of a refused span that was not replaced; null without one. */
  let refused: bigint | null = null;
  const take = (span: ChainSpan) => {
    const newestThrough = (number: bigint) => blocks.findLast((block) => block.number <= number);
    const head = blocks.at(-1) ?? null;
    const { kind } = linkSpan(span, { head, forks, deploymentBlock, newestThrough });
    if (kind === 'unlinked' || kind === 'belowKnown') return;
    const belowCount = blocks.findLastIndex(({ number }) => number < span.fromBlock) + 1;
    blocks.splice(belowCount, blocks.length, ...span.blocks);
    forks = Math.max(forks, span.fork);
    parts = null;
    if (refused !== null && span.fromBlock <= refused) refused = null;
  };
  const receive = (message: StreamMessage) => {
    if (message.subject !== spanSubject(onChain.chain.chainId)) return;
    const decoded = decodeChain(message.subject, message.data);
    if (decoded === null) return;
    if ('rejection' in decoded) refused ??= (blocks.at(-1)?.number ?? deploymentBlock - 1n) + 1n;
    else if (decoded.value.core === onChain.contracts.core) {
      const joined = joinParts(parts, decoded.value);
      if ('parts' in joined) parts = joined.parts;
      else if ('complete' in joined) take(joined.complete);
    }
  };
  if (state.last_seq > 0) {
    const source = createMessageSource({
      ...nats,
      stream: 'MINER_CHAIN',
      verifier: createStreamVerifier({ ...nats, stream: 'MINER_CHAIN', clock: systemClock }),
      clock: systemClock,
      through: state.last_seq,
    });
    await source
      .batchesAfter(startOfStream, createGate({ max: Number.POSITIVE_INFINITY }))
      .forEach(({ messages }) => {
        for (const message of messages) receive(message);
      });
  }
  const byNumber = new Map(blocks.map((block) => [block.number, block]));
  return { blocks: byNumber, head: blocks.at(-1)?.number ?? null, refused };
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
    logs.map(({ address, topics, data, transactionHash, transactionIndex, logIndex, truncated }) => [
      address,
      topics,
      data,
      transactionHash,
      transactionIndex,
      logIndex,
      truncated,
    ]),
  );
}
