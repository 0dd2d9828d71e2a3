import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream';
import { chainSpanMessage } from '../../../actors/chain/spans/chainSpan.ts';
import {
  inputStreamNames,
  type StreamName,
  spanSubject,
  streamNames,
  streamSubjects,
} from '../../../actors/messages/subjects.ts';
import { readErrorMessage } from '../../../actors/readErrorMessage.ts';
import type { ChainDeployment } from '../../../actors/views/chain/chainDeployment.ts';
import { streamDefinitions } from '../../../streams/folds/streamDefinitions.ts';
import { isStreamMissing } from '../../../streams/jetstream/settings/ensureStreams.ts';
import { findStreamRisks, nanosPerDay } from '../../../streams/jetstream/settings/streamRisks.ts';
import { type Finding, failed, ok, warned } from '../../diagnosis/finding.ts';

const spanSearchMax = 8;

interface CheckStreamsOptions {
  readonly jsm: JetStreamManager;
  /** Null if the deployment has no contracts, or is unknown. */
  readonly onChain: ChainDeployment | null;
  /** Days after which the operator lets messages leave the streams; 0 keeps all. */
  readonly retentionDays: number;
}

/** Checks each stream's subjects, readers, replicas with leader and peers, settings, and whether it keeps the messages for a rebuild. */
export async function checkStreams(options: CheckStreamsOptions): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const stream of streamNames) findings.push(...(await checkStream(options, stream)));
  return findings;
}

async function checkStream(options: CheckStreamsOptions, stream: StreamName): Promise<Finding[]> {
  const { jsm } = options;
  const name = `stream ${stream}`;
  let info: StreamInfo;
  try {
    info = await jsm.streams.info(stream);
  } catch (error) {
    const remedy = isStreamMissing(error)
      ? 'start the service: it creates the stream, unless what is stored was made from an earlier one'
      : 'bring back the servers that hold it; with one replica only one server does';
    return [failed(name, readErrorMessage(error), remedy)];
  }
  // A mirror has the subjects of its origin.
  const missing = info.config.mirror
    ? []
    : streamSubjects[stream].filter((subject) => !info.config.subjects?.includes(subject));
  const findings = [
    missing.length === 0
      ? ok(
          name,
          `messages ${info.state.first_seq} to ${info.state.last_seq}, ${await describeReaders(jsm, stream)}`,
        )
      : failed(name, `does not hold ${missing.join(', ')}`, 'start the service once: it updates the stream'),
    checkReplicas(stream, info),
    ...checkSettings(options, stream, info),
  ];
  const retention = await checkRetention(options, stream, info);
  return retention === null ? findings : [...findings, retention];
}

/** Settings that can lose or refuse messages. */
function checkSettings(
  { retentionDays }: CheckStreamsOptions,
  stream: StreamName,
  { config }: StreamInfo,
): Finding[] {
  return findStreamRisks(config, { stream, retentionDays }).map(
    ({ setting, value, detail, remedy, isSevere }) =>
      (isSevere ? failed : warned)(`settings ${stream}`, `${setting} is ${value}: ${detail}`, remedy),
  );
}

async function describeReaders(jsm: JetStreamManager, stream: StreamName): Promise<string> {
  const consumers = await jsm.consumers
    .list(stream)
    .next()
    .catch(() => null);
  // A replica's user may not list other readers.
  if (consumers === null) return 'whose consumers this user may not list';
  const lags = consumers.map((consumer) => `${consumer.name} ${consumer.num_pending} behind`);
  return lags.length === 0 ? 'no consumers at the moment' : lags.join(', ');
}

function checkReplicas(stream: StreamName, { config, cluster }: StreamInfo): Finding {
  const check = `replicas ${stream}`;
  const count = config.num_replicas;
  // A single server is not a cluster, and leads its own streams.
  if (cluster?.name === undefined) return ok(check, `${count}, on one server`);
  const peers = cluster.replicas ?? [];
  const dead = peers.filter(({ offline }) => offline === true).map(({ name }) => name);
  const lagging = peers
    .filter(({ offline, current }) => offline !== true && !current)
    .map(({ name }) => name);
  const detail = `${count} in the cluster ${cluster.name}, leader ${cluster.leader || 'none'}`;
  if (!cluster.leader) return failed(check, detail, 'a majority of its servers has to run: bring them back');
  if (dead.length > 0)
    return failed(
      check,
      `${detail}, away: ${dead.join(', ')}`,
      'bring them back: if another one fails, the stream may be unavailable',
    );
  if (lagging.length > 0)
    return warned(
      check,
      `${detail}, behind: ${lagging.join(', ')}`,
      'wait; if it lasts, check their disks and network',
    );
  if (count === 1)
    return warned(
      check,
      detail,
      'set MINER_STREAM_REPLICAS=3: with one replica the stream is unavailable while its server is',
    );
  return ok(check, detail);
}

/** Says which messages the stream holds for a rebuild. Null for a stream without a fold, or if its settings say what it loses. */
async function checkRetention(
  { jsm, onChain, retentionDays }: CheckStreamsOptions,
  stream: StreamName,
  { config, state }: StreamInfo,
): Promise<Finding | null> {
  const folded = inputStreamNames.find((one) => one === stream);
  if (folded === undefined) return null;
  const check = `retention ${stream}`;
  const { afterRetention } = streamDefinitions[folded].doctor;
  const firstBlock =
    afterRetention !== null || onChain === null
      ? null
      : await findFirstBlock(jsm, onChain.chain.chainId, state.first_seq);
  const needed = onChain?.chain.deploymentBlock ?? null;
  if (firstBlock !== null && needed !== null && firstBlock > needed) {
    return failed(
      check,
      `it begins at block ${firstBlock}, the deployment at ${needed}: the chain cannot be folded again`,
      `publish them again: npm run miner -- index --from-block ${needed}`,
    );
  }
  if (findStreamRisks(config, { stream, retentionDays }).some(({ isLosing }) => isLosing)) return null;
  if (afterRetention === null)
    return ok(
      check,
      firstBlock === null ? 'it keeps all spans' : `it keeps all spans, from block ${firstBlock} on`,
    );
  if (config.max_age === 0)
    return ok(
      check,
      state.first_seq <= 1
        ? 'it keeps all messages, so everything can be folded again'
        : `it keeps all messages, and begins at ${state.first_seq}: earlier ones have left it`,
    );
  const days = Math.round((config.max_age / nanosPerDay) * 10) / 10;
  const { left, keeping } = afterRetention;
  const detail = `messages leave it after ${days} days, it begins at ${state.first_seq}: ${left}`;
  return keeping === null ? ok(check, detail) : warned(check, detail, keeping);
}

/** First block of the first readable span in the stream; null without one. Messages with chain reads may precede it. */
async function findFirstBlock(jsm: JetStreamManager, chainId: bigint, from: number): Promise<bigint | null> {
  for (let seq = from; seq < from + spanSearchMax; seq++) {
    const message = await jsm.streams.getMessage('MINER_CHAIN', { seq });
    if (message?.subject !== spanSubject(chainId)) continue;
    const span = chainSpanMessage.safeParse(message.json());
    return span.success ? BigInt(span.data.fromBlock) : null;
  }
  return null;
}
