import { chainSpanMessage } from '../../../actors/chain/spans/chainSpan.ts';
import {
  type InputStreamName,
  inputStreamNames,
  type StreamName,
  spanSubject,
  streamNames,
  streamSubjects,
} from '../../../actors/messages/subjects.ts';
import { readErrorMessage } from '../../../actors/readErrorMessage.ts';
import type { ChainDeployment } from '../../../actors/views/chain/chainDeployment.ts';
import { streamDefinitions } from '../../../streams/folds/streamDefinitions.ts';
import { parseStored } from '../../../streams/jetstream/parseStored.ts';
import { findStreamRisks, nanosPerDay } from '../../../streams/jetstream/settings/streamRisks.ts';
import {
  isRefusedAs,
  type StreamInfo,
  type StreamPeer,
  type StreamPort,
} from '../../../streams/nats/streamPort.ts';
import { type Finding, type Findings, failed, ok, warned } from '../../diagnosis/finding.ts';

const spanSearchMax = 8;

/** What the checks of NATS read. */
export interface CheckedNats {
  readonly jetStream: StreamPort;
  /** Null if the deployment has no contracts, undefined if it is unknown. */
  readonly onChain: ChainDeployment | null | undefined;
  readonly rpcUrl: string | null;
  /** Days after which the operator lets messages leave the streams; 0 keeps all. */
  readonly retentionDays: number;
  /** Address of a server's monitoring, such as `http://nats:8222`; null if unknown. */
  readonly monitoringUrl: string | null;
  readonly nowMs: () => number;
}

/** Checks each stream's subjects, readers, replicas with leader and peers, settings, and whether it keeps the messages for a rebuild. */
export async function* checkStreams(parts: CheckedNats): Findings {
  const { jetStream, retentionDays } = parts;
  for (const stream of streamNames) {
    const name = `stream ${stream}`;
    let info: StreamInfo;
    try {
      info = await jetStream.info(stream);
    } catch (error) {
      const remedy = isRefusedAs('missing', error)
        ? 'start the service: it creates the stream, unless what is stored was made from an earlier one'
        : 'bring back the servers that hold it; with one replica only one server does';
      yield failed(name, readErrorMessage(error), remedy);
      continue;
    }
    const { config, firstSequence, lastSequence } = info;
    // A mirror has the subjects of its origin.
    const missing = config.mirror
      ? []
      : streamSubjects[stream].filter((subject) => !config.subjects?.includes(subject));
    yield missing.length === 0
      ? ok(name, `messages ${firstSequence} to ${lastSequence}, ${await describeReaders(jetStream, stream)}`)
      : failed(name, `does not hold ${missing.join(', ')}`, 'start the service once: it updates the stream');
    yield checkReplicas(stream, info);
    const risks = findStreamRisks(config, { stream, retentionDays });
    for (const { setting, value, detail, remedy, isSevere } of risks)
      yield (isSevere ? failed : warned)(`settings ${stream}`, `${setting} is ${value}: ${detail}`, remedy);
    const isLosing = risks.some((risk) => risk.isLosing);
    const folded = inputStreamNames.find((one) => one === stream);
    const retention = folded && (await checkRetention(parts, folded, { ...info, isLosing }));
    if (retention) yield retention;
  }
}

async function describeReaders(jetStream: StreamPort, stream: StreamName): Promise<string> {
  const consumers = await jetStream.consumers(stream).catch(() => null);
  // A replica's user may not list other readers.
  if (consumers === null) return 'whose consumers this user may not list';
  const lags = consumers.map((consumer) => `${consumer.name} ${consumer.behind} behind`);
  return lags.length === 0 ? 'no consumers at the moment' : lags.join(', ');
}

function checkReplicas(stream: StreamName, { config, cluster }: StreamInfo): Finding {
  const check = `replicas ${stream}`;
  const count = config.num_replicas;
  if (cluster === null) return ok(check, `${count}, on one server`);
  const detail = `${count} in the cluster ${cluster.name}, leader ${cluster.leader ?? 'none'}`;
  if (cluster.leader === null)
    return failed(check, detail, 'a majority of its servers has to run: bring them back');
  const listPeers = (isMeant: (peer: StreamPeer) => boolean) =>
    cluster.peers.flatMap((peer) => (isMeant(peer) ? peer.name : [])).join(', ');
  const dead = listPeers(({ isOffline }) => isOffline);
  const back = 'bring them back: if another one fails, the stream may be unavailable';
  if (dead !== '') return failed(check, `${detail}, away: ${dead}`, back);
  const lagging = listPeers(({ isCurrent }) => !isCurrent);
  const wait = 'wait; if it lasts, check their disks and network';
  if (lagging !== '') return warned(check, `${detail}, behind: ${lagging}`, wait);
  if (count > 1) return ok(check, detail);
  const more = 'set MINER_STREAM_REPLICAS=3: with one replica the stream is unavailable while its server is';
  return warned(check, detail, more);
}

/** Says which messages the stream holds for a rebuild, unless its settings say what it loses. */
async function checkRetention(
  { jetStream, onChain }: CheckedNats,
  stream: InputStreamName,
  { config, firstSequence: begins, isLosing }: StreamInfo & { readonly isLosing: boolean },
): Promise<Finding | null> {
  const check = `retention ${stream}`;
  const { afterRetention } = streamDefinitions[stream].doctor;
  if (afterRetention === null) {
    const first = onChain ? await findFirstBlock(jetStream, onChain.chain.chainId, begins) : null;
    const needed = onChain?.chain.deploymentBlock ?? 0n;
    if (first !== null && first > needed) {
      const late = `it begins at block ${first}, the deployment at ${needed}: the chain cannot be folded again`;
      return failed(check, late, `publish them again: npm run miner -- index --from-block ${needed}`);
    }
    const all = first === null ? 'it keeps all spans' : `it keeps all spans, from block ${first} on`;
    return isLosing ? null : ok(check, all);
  }
  if (isLosing) return null;
  if (config.max_age === 0) {
    const later = `and begins at ${begins}: earlier ones have left it`;
    return ok(check, `it keeps all messages, ${begins > 1 ? later : 'so everything can be folded again'}`);
  }
  const days = Math.round((config.max_age / nanosPerDay) * 10) / 10;
  const { left, keeping } = afterRetention;
  const detail = `messages leave it after ${days} days, it begins at ${begins}: ${left}`;
  return keeping === null ? ok(check, detail) : warned(check, detail, keeping);
}

/** First block of the first readable span in the stream; null without one. Messages with chain reads may precede it. */
async function findFirstBlock(jetStream: StreamPort, chainId: bigint, from: number): Promise<bigint | null> {
  for (let seq = from; seq < from + spanSearchMax; seq++) {
    const message = await jetStream.message('MINER_CHAIN', seq);
    if (message?.subject !== spanSubject(chainId)) continue;
    const span = parseStored(chainSpanMessage, message);
    return span && BigInt(span.fromBlock);
  }
  return null;
}
