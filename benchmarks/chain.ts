import { decodeEventLog, encodeAbiParameters, encodeEventTopics, type Hex } from 'viem';
import { createChainActors } from '../actors/chain/chainActors.ts';
import { miningAbi } from '../actors/chain/spans/contractAbis.ts';
import type { StreamMessage } from '../actors/messages/streamMessage.ts';
import { spanSubject } from '../actors/messages/subjects.ts';
import { toAddress } from '../actors/schemas/hex.ts';
import { measureInterleaved } from './measureInterleaved.ts';
import { publishResults, type ResultTable } from './results.ts';
import { withVersion } from './versions.ts';

const chainId = 31_337n;
const toNumberedAddress = (number: number) => toAddress(`0x${number.toString(16).padStart(40, '0')}`);
const contracts = {
  core: toNumberedAddress(1),
  proxyAdmin: toNumberedAddress(2),
  operatorTimelock: toNumberedAddress(3),
  tokenFactory: toNumberedAddress(4),
  mining: toNumberedAddress(5),
  token: toNumberedAddress(6),
  collection: toNumberedAddress(7),
};
const eventsTotal = 100_000;
const eventsOfBlock = 10;
const blocksOfSpan = 20;
const emptySpans = 20_000;

interface ChainOptions {
  readonly rounds: number;
}

/** Measures the rate of folding spans, against parsing and decoding alone. */
export async function measureChain({ rounds }: ChainOptions): Promise<void> {
  publishResults({ command: 'chain', tables: await foldTables(rounds) });
}

async function foldTables(rounds: number): Promise<ResultTable[]> {
  const full = buildSpans(eventsTotal / eventsOfBlock / blocksOfSpan, blocksOfSpan, eventsOfBlock);
  const empty = buildSpans(emptySpans, 1, 0);
  const parsed = full.map(({ data }) => JSON.parse(Buffer.from(data).toString()) as Span);
  return [
    {
      title: `${eventsTotal.toLocaleString('en-US')} events, ${eventsOfBlock} a block, ${blocksOfSpan} blocks a span`,
      unit: 'events/s',
      series: await measureInterleaved(
        [
          {
            name: 'folded into states',
            measure: async () => eventsTotal / measureSeconds(() => foldSpans(full)),
          },
          {
            name: '`JSON.parse` of the same spans',
            measure: async () => eventsTotal / measureSeconds(() => parseSpans(full)),
          },
          {
            name: `\`decodeEventLog\` of ${withVersion('viem')}, of the same logs`,
            measure: async () => eventsTotal / measureSeconds(() => decodeLogs(parsed)),
          },
        ],
        rounds,
      ),
    },
    {
      title: `${emptySpans.toLocaleString('en-US')} spans of one empty block`,
      unit: 'spans/s',
      series: await measureInterleaved(
        [
          {
            name: 'folded into states',
            measure: async () => emptySpans / measureSeconds(() => foldSpans(empty)),
          },
          {
            name: '`JSON.parse` of the same spans',
            measure: async () => emptySpans / measureSeconds(() => parseSpans(empty)),
          },
        ],
        rounds,
      ),
    },
  ];
}

function measureSeconds(run: () => void): number {
  const startedMs = performance.now();
  run();
  return (performance.now() - startedMs) / 1_000;
}

interface Span {
  readonly blocks: readonly { readonly logs: readonly { readonly topics: Hex[]; readonly data: Hex }[] }[];
}

function foldSpans(spans: readonly StreamMessage[]) {
  const actors = createChainActors({ chainId, contracts, deploymentBlock: 1n });
  for (const span of spans)
    if ('rejection' in (actors.receive(span) as object)) throw new Error('a span is not accepted');
}

function parseSpans(spans: readonly StreamMessage[]) {
  for (const { data } of spans) JSON.parse(Buffer.from(data).toString());
}

function decodeLogs(spans: readonly Span[]) {
  for (const { blocks } of spans)
    for (const { logs } of blocks)
      for (const { topics, data } of logs)
        decodeEventLog({ abi: miningAbi, topics: topics as [Hex, ...Hex[]], data });
}

/** Consecutive spans; every event mints a position. */
function buildSpans(count: number, blocks: number, events: number): StreamMessage[] {
  const formatHash = (block: number) => `0x${block.toString(16).padStart(64, '0')}`;
  let tokenId = 0;
  return Array.from({ length: count }, (_, index) => {
    const fromBlock = index * blocks + 1;
    const toBlock = fromBlock + blocks - 1;
    const formatTimestamp = (block: number) => new Date(block * 12_000).toISOString();
    const listed = Array.from({ length: events === 0 ? 0 : blocks }, (_unused, offset) => {
      const number = fromBlock + offset;
      const logs = Array.from({ length: events }, (_event, logIndex) =>
        mintLog(++tokenId, formatHash(number), logIndex),
      );
      return { number: String(number), hash: formatHash(number), timestamp: formatTimestamp(number), logs };
    });
    const span = {
      core: contracts.core,
      fork: 0,
      fromBlock: String(fromBlock),
      toBlock: String(toBlock),
      parentHash: formatHash(fromBlock - 1),
      hash: formatHash(toBlock),
      timestamp: formatTimestamp(toBlock),
      blocks: listed,
    };
    return {
      seq: index + 1,
      subject: spanSubject(chainId),
      data: Buffer.from(JSON.stringify(span)),
      timestampNanos: BigInt(index) * 1_000_000_000n,
    };
  });
}

function mintLog(tokenId: number, transactionHash: string, logIndex: number) {
  const topics = encodeEventTopics({
    abi: miningAbi,
    eventName: 'PositionMinted',
    args: { owner: toNumberedAddress(1_000 + (tokenId % 1_000)) as Hex, tokenId: BigInt(tokenId) },
  });
  const data = encodeAbiParameters(
    [{ type: 'uint256' }, { type: 'uint64' }, { type: 'uint64' }],
    [100n, 0n, BigInt(tokenId)],
  );
  return { address: contracts.mining, topics, data, transactionHash, transactionIndex: logIndex, logIndex };
}
