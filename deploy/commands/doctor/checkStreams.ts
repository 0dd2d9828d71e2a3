import { type StreamName, streamNames, streamSubjects } from '../../../actors/messages/subjects.ts';
import { readErrorMessage } from '../../../actors/readErrorMessage.ts';
import type { ChainDeployment } from '../../../actors/views/chain/chainDeployment.ts';
import { findStreamRisks } from '../../../streams/jetstream/settings/streamRisks.ts';
import {
  isRefusedAs,
  type StreamInfo,
  type StreamPeer,
  type StreamPort,
} from '../../../streams/nats/streamPort.ts';
import { type Finding, type Findings, failed, ok, warned } from '../../diagnosis/finding.ts';

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

/** Checks each stream's subjects, readers, replicas with leader and peers, and settings. */
export async function* checkStreams({ jetStream, retentionDays }: CheckedNats): Findings {
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
    const held =
      lastSequence < Math.max(1, firstSequence)
        ? 'no messages'
        : `messages ${firstSequence} to ${lastSequence}`;
    yield missing.length === 0
      ? ok(name, `${held}, ${await describeReaders(jetStream, stream)}`)
      : failed(name, `does not hold ${missing.join(', ')}`, 'start the service once: it updates the stream');
    yield checkReplicas(stream, info);
    const risks = findStreamRisks(config, { stream, retentionDays });
    for (const { setting, value, detail, remedy, isSevere } of risks)
      yield (isSevere ? failed : warned)(`settings ${stream}`, `${setting} is ${value}: ${detail}`, remedy);
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
