import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { pino } from 'pino';
import { decodeEventLog, encodeAbiParameters, encodeEventTopics, type Hex } from 'viem';
import { createChainActors } from '../actors/chain/chainActors.ts';
import { miningAbi } from '../actors/chain/contractAbis.ts';
import type { StreamMessage } from '../actors/messages/streamMessage.ts';
import { spanSubject } from '../actors/messages/subjects.ts';
import { toAddress } from '../actors/schemas/hex.ts';
import { bindToParent } from '../deploy/local/bindToParent.ts';
import { pollUntil } from '../storage/pollUntil.ts';
import { closeNats } from '../streams/jetstream/connection.ts';
import { ensureStreams } from '../streams/jetstream/ensureStreams.ts';
import { startFilled } from './filledData.ts';
import { measureInterleaved } from './measureInterleaved.ts';
import { startNatsProcess } from './natsProcess.ts';
import { publishResults, type ResultTable } from './results.ts';
import { createStopper } from './serverChild.ts';
import { minerProgram } from './serviceProcess.ts';
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
const followPollMs = 5;
const chainDays = 8;
/** As the indexer asks. */
const headersOfBatch = 64;
const blocksAtOnce = 16;

export interface ChainOptions {
  readonly rounds: number;
}

/** Folding of spans, and indexing of a chain. */
export async function measureChain({ rounds }: ChainOptions): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'miner-bench-'));
  try {
    const tables = [...(await foldTables(rounds)), await indexTable(dir, rounds)];
    publishResults({ command: 'chain', tables });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
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

/** As much of a span as is read here. */
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

/** Spans behind one another; every event is the mint of a position. */
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

/** Some days of a chain, from a local node into the stream; and its bare reading. */
async function indexTable(dir: string, rounds: number): Promise<ResultTable> {
  const filled = await startFilled(join(dir, 'data'), chainDays);
  try {
    const { rpcUrl, environment } = filled;
    const deployment = environment.MINER_DEPLOYMENT as string;
    const tip = Number(await call<Hex>(rpcUrl, 'eth_blockNumber', []));
    const series = await measureInterleaved(
      [
        {
          name: '`miner index`, from its start to the tip',
          measure: async () => {
            const natsDir = mkdtempSync(join(dir, 'nats-'));
            const seconds = await indexSeconds(natsDir, rpcUrl, deployment);
            rmSync(natsDir, { recursive: true, force: true });
            return tip / seconds;
          },
        },
        {
          name: 'the same requests alone: headers in batches, receipts and transactions of blocks with logs',
          measure: async () => {
            const startedMs = performance.now();
            await readBare(rpcUrl, deployment, tip);
            return tip / ((performance.now() - startedMs) / 1_000);
          },
        },
      ],
      rounds,
    );
    return {
      title: `${tip.toLocaleString('en-US')} blocks of a local ${withVersion('@foundry-rs/anvil', 'anvil')}`,
      unit: 'blocks/s',
      series,
    };
  } finally {
    await filled.stop();
  }
}

async function indexSeconds(dir: string, rpcUrl: string, deployment: string): Promise<number> {
  const nats = await startNatsProcess(dir);
  await createChainStream(nats.url);
  const startedMs = performance.now();
  const child = spawn(...bindToParent(process.execPath, [minerProgram, 'index']), {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      MINER_NATS_URL: nats.url,
      MINER_RPC_URL: rpcUrl,
      MINER_DEPLOYMENT: deployment,
      MINER_OPS_PORT: '0',
    },
  });
  const stop = createStopper(child);
  try {
    const operatorUrl = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stderr })
        .on('line', (line) => {
          const { operatorUrl: url } = line.startsWith('{') ? JSON.parse(line) : {};
          if (url !== undefined) resolve(url);
        })
        .on('close', () => reject(new Error('the indexer ended')));
    });
    await pollUntil(async () => (await fetch(`${operatorUrl}/readyz`)).ok, { everyMs: followPollMs });
    return (performance.now() - startedMs) / 1_000;
  } finally {
    await stop();
    await nats.stop();
  }
}

/** An indexer waits for the stream, which only a process that ingests creates. */
async function createChainStream(url: string) {
  const connection = await connect({ servers: url });
  const jsm = await jetstreamManager(connection);
  await ensureStreams(jsm, ['MINER_CHAIN'], { retentionDays: 0 }, pino({ level: 'silent' }));
  await closeNats(connection);
}

/** What an indexer has to ask a node for, without proving or keeping any of it; which blocks hold logs is requested first. */
async function readBare(rpcUrl: string, deploymentFile: string, tip: number) {
  const { contracts: deployed } = JSON.parse(readFileSync(deploymentFile, 'utf8')) as {
    contracts: Record<string, string>;
  };
  const range = { fromBlock: '0x0', toBlock: formatQuantity(tip), address: Object.values(deployed) };
  const logs = await call<{ blockNumber: Hex }[]>(rpcUrl, 'eth_getLogs', [range]);
  const numbers = [...new Set(logs.map(({ blockNumber }) => blockNumber))];
  for (let from = 1; from <= tip; from += headersOfBatch) {
    const count = Math.min(headersOfBatch, tip - from + 1);
    const params = Array.from({ length: count }, (_, index) => [formatQuantity(from + index), false]);
    await callAll(rpcUrl, 'eth_getBlockByNumber', params);
  }
  for (let from = 0; from < numbers.length; from += blocksAtOnce) {
    const blocks = numbers.slice(from, from + blocksAtOnce);
    await Promise.all(
      blocks.flatMap((number) => [
        call(rpcUrl, 'eth_getBlockReceipts', [number]),
        call(rpcUrl, 'eth_getBlockByNumber', [number, true]),
      ]),
    );
  }
}

function formatQuantity(number: number): Hex {
  return `0x${number.toString(16)}`;
}

async function callAll(url: string, method: string, calls: readonly (readonly unknown[])[]) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(calls.map((params, id) => ({ jsonrpc: '2.0', id, method, params }))),
  });
  const answers = (await response.json()) as { error?: { message: string } }[];
  const failed = answers.find(({ error }) => error !== undefined);
  if (failed !== undefined) throw new Error(`${method}: ${failed.error?.message}`);
}

async function call<Result>(url: string, method: string, params: readonly unknown[]): Promise<Result> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as { result: Result; error?: { message: string } };
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result;
}
