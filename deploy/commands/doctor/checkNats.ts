import { createPublicClient, type PublicClient } from 'viem';
import { z } from 'zod';
import { chainSpanMessage } from '../../../actors/chain/spans/chainSpan.ts';
import { confirmations } from '../../../actors/chain/spans/confirmations.ts';
import { rejectedSubject, spanSubject } from '../../../actors/messages/subjects.ts';
import { dayMs } from '../../../actors/schemas/durations.ts';
import { requireValue } from '../../../machines/requireValue.ts';
import { createNodeTransport, splitNodeUrls } from '../../../streams/indexer/nodeTransport.ts';
import { parseStored } from '../../../streams/jetstream/parseStored.ts';
import { isTooOld } from '../../../streams/nats/connection.ts';
import { findCertainOffset, measureNatsClock } from '../../../streams/nats/natsClock.ts';
import { formatRejection, readNewestRejections } from '../../../streams/pipeline/newestRejections.ts';
import {
  type Check,
  type Finding,
  type Findings,
  failed,
  ok,
  skipped,
  warned,
} from '../../diagnosis/finding.ts';
import { judgeRoom } from '../../diagnosis/inspectDatabase.ts';
import { type CheckedNats, checkStreams } from './checkStreams.ts';

/** A measurement is stale after 120 s, a lease is lost after seconds. */
const [offsetWarnedMs, offsetFailedMs] = [1_000, 10_000];
const requestMs = 5_000;
const rejectionsShown = 5;
const mib = 2 ** 20;

const again = 'run it again once NATS answers';
const enable = 'start nats-server with JetStream (`jetstream {}` in its configuration, or -js)';
const monitor = 'check --nats-monitoring, and `http_port` in the configuration of the server';
const allow =
  'allow this user $JS.API.CONSUMER.CREATE.*.> and the others of deploy/nats/accounts.conf: every process reads by consumers';

/** NATS, its streams, and the chain that they hold. */
export const natsChecks: readonly Check<CheckedNats>[][] = [
  [['JetStream', checkServer, enable]],
  [['streams', checkStreams, again]],
  [
    ['room of the NATS account', checkAccount, again],
    ['NATS sync', checkMonitoring, monitor],
    ['clock', checkClock, allow],
    ['NATS permissions', checkPermissions, again],
  ],
  [
    ['rejections', checkRejections, again],
    ['node', checkChain, 'check MINER_RPC_URL and that the node runs'],
  ],
];

async function* checkServer({ jetStream }: CheckedNats): Findings {
  const { address, version } = jetStream.server();
  const detail = `${address}, version ${version}`;
  const risk = 'it cannot sync before it acknowledges, so a power failure may take the last messages';
  yield isTooOld(version)
    ? warned('NATS', `${detail}: ${risk}`, 'upgrade to 2.10 or newer, with `sync_interval: always`')
    : ok('NATS', detail);
  const { storedBytes, streams } = await jetStream.account();
  yield ok(
    'JetStream',
    `${streams} streams, ${Math.round(storedBytes / mib)} MiB stored, counting each copy`,
  );
}

async function* checkAccount({ jetStream }: CheckedNats): Findings {
  const { usedBytes, limitBytes } = await jetStream.account();
  if (limitBytes !== null) yield judgeRoom('room of the NATS account', limitBytes - usedBytes, limitBytes);
}

const sync = { sync_always: z.boolean().optional(), sync_interval: z.number().optional() };
const jetStreamConfig = z.object({ max_storage: z.number(), ...sync });
const jetStreamState = z.object({ config: jetStreamConfig, storage: z.number() });

/** Checks settings that a server shows only to its operators. */
async function* checkMonitoring({ monitoringUrl }: CheckedNats): Findings {
  if (monitoringUrl === null)
    return yield skipped('NATS sync', 'clients cannot read it: add --nats-monitoring http://host:8222');
  const response = await fetch(new URL('/jsz', monitoringUrl), { signal: AbortSignal.timeout(requestMs) });
  const { config, storage } = jetStreamState.parse(await response.json());
  const { max_storage: max, sync_always: always, sync_interval: interval } = config;
  const every = interval === undefined ? 'two minutes' : `${interval / 1_000_000_000} s`;
  const risk = `every ${every}: a power failure may take what was acknowledged since`;
  yield always === true
    ? ok('NATS sync', 'before each acknowledgement')
    : warned('NATS sync', risk, 'set `sync_interval: always` in `jetstream { … }`');
  yield judgeRoom('room of NATS', max - storage, max);
}

/**
 * Compares the clock of NATS with this machine's. Servers before 2.10 do not tell it with a stream; there the server that creates a consumer does.
 */
async function* checkClock({ jetStream }: CheckedNats): Findings {
  const created = await jetStream.tryConsumer('MINER_COUNTER');
  const measured = requireValue(await measureNatsClock(jetStream, Date.now, created), 'the time of NATS');
  const { offsetMs, uncertainMs } = measured;
  const detail = `the clock of NATS is ${Math.round(Math.abs(offsetMs))} ms ${offsetMs < 0 ? 'behind' : 'ahead of'} this machine's, ± ${Math.ceil(uncertainMs)} ms`;
  const certainMs = Math.abs(findCertainOffset(measured));
  if (certainMs <= offsetWarnedMs) return yield ok('clock', detail);
  const judge = certainMs > offsetFailedMs ? failed : warned;
  yield judge('clock', detail, 'let both follow a time server (chrony, systemd-timesyncd)');
}

/** Tries what the tasks of this service need. */
async function* checkPermissions({ jetStream, onChain }: CheckedNats): Findings {
  const tasks = new Map([['ingest', rejectedSubject('MINER_COUNTER')]]);
  if (onChain) tasks.set('index', spanSubject(onChain.chain.chainId));
  const may = ['serve'];
  const mayNot: string[] = [];
  for (const [task, subject] of tasks) {
    if (await jetStream.mayPublish(subject)) may.push(task);
    else mayNot.push(`${task} (publish to ${subject})`);
  }
  const refused = mayNot.length === 0 ? '' : `, and may not ${mayNot.join(', nor ')}`;
  yield ok('NATS permissions', `this user may ${may.join(', ')}${refused}`);
}

/** Warns of messages rejected in the last day, since their publishers may not know. */
async function* checkRejections({ jetStream, nowMs }: CheckedNats): Findings {
  const { rejections } = await readNewestRejections(jetStream, { most: rejectionsShown });
  const recent = rejections.filter(({ storedAt }) => Date.parse(storedAt) > nowMs() - dayMs);
  if (recent.length === 0) return yield ok('rejections', 'none in the last day');
  const newest = recent.map((rejection) => `\n           ${formatRejection(rejection)}`).join('');
  const detail = `messages of the last day were not accepted; the newest:${newest}`;
  yield warned('rejections', detail, '`miner rejected` lists more; correct what publishes them');
}

/** Checks the node's chain, the deployment on it, and the stream's newest block. */
async function* checkChain({ jetStream, onChain, rpcUrl }: CheckedNats): Findings {
  if (onChain === undefined) return;
  if (onChain === null) return yield skipped('node', 'the deployment has no contracts');
  if (rpcUrl === null) return yield skipped('node', 'MINER_RPC_URL is not set');
  const [url, witnessUrl] = splitNodeUrls(rpcUrl);
  const client = createPublicClient({ transport: createNodeTransport({ url, requestMs }) });
  const { chainId } = onChain.chain;
  const nodeChainId = BigInt(await client.getChainId());
  if (nodeChainId !== chainId) {
    const detail = `it serves chain ${nodeChainId}, but the deployment is on chain ${chainId}`;
    const remedy = 'set MINER_RPC_URL to a node of that chain, or correct the deployment file';
    return yield failed('node', detail, remedy);
  }
  const tip = await client.getBlockNumber();
  yield ok('node', `chain ${nodeChainId}, newest block ${tip}`);
  if (witnessUrl !== null) yield await compareNodes(client, witnessUrl, tip);
  const { core } = onChain.contracts;
  yield (await client.getCode({ address: core })) === undefined
    ? failed('deployment', `there is no contract at ${core}`, 'correct `contracts` in the deployment file')
    : ok('deployment', `the core is at ${core}`);
  const last = await jetStream.last('MINER_CHAIN', spanSubject(chainId));
  if (last === null) return yield skipped('blocks', 'none is published yet');
  const span = parseStored(chainSpanMessage, last);
  const publisher = 'find out who else publishes to MINER_CHAIN';
  if (span === null) return yield failed('blocks', 'the newest span is malformed', publisher);
  const head = BigInt(span.toBlock);
  if (head > tip) {
    const detail = `the stream holds block ${head}, the node is at ${tip}`;
    const remedy = 'the node lags or was reset; wait, or set MINER_RPC_URL to another one';
    return yield failed('blocks', detail, remedy);
  }
  const { hash } = await client.getBlock({ blockNumber: head });
  const differs = `block ${head} is ${span.hash} in the stream and ${hash} on the chain`;
  yield hash === span.hash
    ? ok('blocks', `published through ${head}, ${tip - head} behind the node`)
    : failed('blocks', differs, 'a reorganization that is not indexed yet: start the service or `index`');
}

/** Compares two nodes at the block that is safe if the first one's chain is indexed. */
async function compareNodes(client: PublicClient, witnessUrl: string, tip: bigint): Promise<Finding> {
  const witness = createPublicClient({ transport: createNodeTransport({ url: witnessUrl, requestMs }) });
  const blockNumber = tip < confirmations ? 0n : tip - confirmations + 1n;
  const [first, second] = await Promise.all([client, witness].map((one) => one.getBlock({ blockNumber })));
  if (first?.hash === second?.hash) return ok('second node', `agrees at block ${blockNumber}`);
  const detail = `block ${blockNumber} is ${first?.hash} at the first node, and ${second?.hash} at the second`;
  return failed('second node', detail, 'find out which is wrong, and set MINER_RPC_URL to another one');
}
