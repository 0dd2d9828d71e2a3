import type { PeerCertificate } from 'node:tls';
import {
  AckPolicy,
  DeliverPolicy,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
} from '@nats-io/jetstream';
import { type NatsConnection, nuid } from '@nats-io/transport-node';
import { z } from 'zod';
import { rejectedSubject, spanSubject } from '../../../actors/messages/subjects.ts';
import { readErrorMessage } from '../../../actors/readErrorMessage.ts';
import { dayMs } from '../../../actors/schemas/durations.ts';
import type { ChainDeployment } from '../../../actors/views/chain/chainDeployment.ts';
import { requireValue } from '../../../machines/requireValue.ts';
import { measureAccount } from '../../../streams/jetstream/settings/natsStore.ts';
import { isTooOld } from '../../../streams/nats/connection.ts';
import { findCertainOffset, measureNatsClock } from '../../../streams/nats/natsClock.ts';
import type { JetStream } from '../../../streams/nats/natsLink.ts';
import { judgeRoom } from '../../diagnosis/checkDisk.ts';
import { type Finding, failed, ok, skipped, warned } from '../../diagnosis/finding.ts';
import { checkStreams } from './checkStreams.ts';

/** A measurement is stale after 120 s, a lease is lost after seconds. */
const [offsetWarnedMs, offsetFailedMs] = [1_000, 10_000];
const requestMs = 3_000;
/** A connection outlives its certificate, but the next one is refused. */
const certificateWarnedDays = 30;
const mib = 2 ** 20;
/** No stream ends there, so no server stores a message that expects it. */
const impossibleSequence = Number.MAX_SAFE_INTEGER;
const wrongLastSequence = 10_071;

interface CheckNatsOptions extends JetStream {
  readonly onChain: ChainDeployment | null;
  /** Days after which the operator lets messages leave the streams; 0 keeps all. */
  readonly retentionDays: number;
  /** Address of a server's monitoring, such as `http://nats:8222`; null if unknown. */
  readonly monitoringUrl: string | null;
}

/** Checks version, JetStream, sync settings, free space, clock, permissions, and the streams. */
export async function checkNats(options: CheckNatsOptions): Promise<Finding[]> {
  const { connection, jsm, monitoringUrl } = options;
  const findings = [checkVersion(connection)];
  try {
    const account = await jsm.getAccountInfo();
    const { usedBytes, limitBytes } = measureAccount(account);
    const stored = `${Math.round(account.storage / mib)} MiB stored, counting each copy`;
    findings.push(ok('JetStream', `${account.streams} streams, ${stored}`));
    if (limitBytes !== null)
      findings.push(judgeRoom('room of the NATS account', limitBytes - usedBytes, limitBytes));
  } catch (error) {
    const remedy = 'start nats-server with JetStream (`jetstream {}` in its configuration, or -js)';
    return [...findings, failed('JetStream', readErrorMessage(error), remedy)];
  }
  findings.push(...(await checkMonitoring(monitoringUrl)), ...(await checkStreams(options)));
  // The other checks need a present stream.
  if (findings.some(({ check, outcome }) => check.startsWith('stream ') && outcome === 'failed'))
    return findings;
  return [...findings, await checkClock(jsm), await checkPermissions(options)];
}

/** Says how long the certificate of the server is valid. An expired one is never seen, since the connection is refused. */
export function judgeCertificate({ valid_to }: Pick<PeerCertificate, 'valid_to'>, nowMs: number): Finding {
  const endsAtMs = Date.parse(valid_to);
  const days = Math.floor((endsAtMs - nowMs) / dayMs);
  const detail = `valid until ${new Date(endsAtMs).toISOString()}, for ${days} days`;
  if (days >= certificateWarnedDays) return ok('NATS certificate', detail);
  return warned(
    'NATS certificate',
    `${detail}: then no process and no publisher can connect`,
    'renew it: deploy/RUNBOOK.md, "Renewing certificates"',
  );
}

function checkVersion(connection: NatsConnection): Finding {
  const version = connection.info?.version ?? 'unknown';
  const detail = `${connection.getServer()}, version ${version}`;
  if (!isTooOld(version)) return ok('NATS', detail);
  return warned(
    'NATS',
    `${detail}: it cannot sync before it acknowledges, so a power failure may take the last messages`,
    'upgrade to 2.10 or newer, with `sync_interval: always`',
  );
}

const jetStreamState = z.object({
  config: z.object({
    max_storage: z.number(),
    sync_always: z.boolean().optional(),
    sync_interval: z.number().optional(),
  }),
  storage: z.number(),
});

/** Checks settings that a server shows only to its operators. */
async function checkMonitoring(monitoringUrl: string | null): Promise<Finding[]> {
  if (monitoringUrl === null)
    return [skipped('NATS sync', 'clients cannot read it: add --nats-monitoring http://host:8222')];
  try {
    const response = await fetch(new URL('/jsz', monitoringUrl), { signal: AbortSignal.timeout(requestMs) });
    const { config, storage } = jetStreamState.parse(await response.json());
    const room = judgeRoom('room of NATS', config.max_storage - storage, config.max_storage);
    if (config.sync_always === true) return [ok('NATS sync', 'before each acknowledgement'), room];
    const every =
      config.sync_interval === undefined ? 'two minutes' : `${config.sync_interval / 1_000_000_000} s`;
    const detail = `every ${every}: a power failure may take what was acknowledged since`;
    return [warned('NATS sync', detail, 'set `sync_interval: always` in `jetstream { … }`'), room];
  } catch (error) {
    const remedy = 'check the address, and `http_port` in the configuration of the server';
    return [failed('NATS sync', `${monitoringUrl}: ${readErrorMessage(error)}`, remedy)];
  }
}

/**
 * Compares the clock of NATS with this machine's. Servers before 2.10 do not tell it with a stream; there the server that creates a consumer does.
 */
async function checkClock(jsm: JetStreamManager): Promise<Finding> {
  try {
    // This service may create only consumers with a name.
    const { name, created } = await jsm.consumers.add('MINER_COUNTER', {
      name: nuid.next(),
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.New,
      inactive_threshold: 5_000_000_000,
      num_replicas: 1,
      mem_storage: true,
    });
    await jsm.consumers.delete('MINER_COUNTER', name);
    const measured = requireValue(await measureNatsClock(jsm, Date.now, created), 'the time of NATS');
    const { offsetMs, uncertainMs } = measured;
    const detail = `the clock of NATS is ${Math.round(Math.abs(offsetMs))} ms ${offsetMs < 0 ? 'behind' : 'ahead of'} this machine's, ± ${Math.ceil(uncertainMs)} ms`;
    const certainMs = Math.abs(findCertainOffset(measured));
    const remedy = 'let both follow a time server (chrony, systemd-timesyncd)';
    if (certainMs > offsetFailedMs) return failed('clock', detail, remedy);
    return certainMs > offsetWarnedMs ? warned('clock', detail, remedy) : ok('clock', detail);
  } catch (error) {
    return failed(
      'clock',
      `no consumer can be created: ${readErrorMessage(error)}`,
      'allow this user $JS.API.CONSUMER.CREATE.*.> and the others of deploy/nats/accounts.conf: every process reads by consumers',
    );
  }
}

/** Publishes messages that no server stores. A refusal for the expected sequence shows that the user may publish there. */
async function checkPermissions({ js, onChain }: CheckNatsOptions): Promise<Finding> {
  const tasks: [string, string][] = [
    ['ingest', rejectedSubject('MINER_COUNTER')],
    ...(onChain === null ? [] : [['index', spanSubject(onChain.chain.chainId)] satisfies [string, string]]),
  ];
  const may: string[] = ['serve'];
  const mayNot: string[] = [];
  for (const [task, subject] of tasks) {
    if (await mayPublish(js, subject)) may.push(task);
    else mayNot.push(`${task} (publish to ${subject})`);
  }
  const refused = mayNot.length === 0 ? '' : `, and may not ${mayNot.join(', nor ')}`;
  return ok('NATS permissions', `this user may ${may.join(', ')}${refused}`);
}

async function mayPublish(js: JetStreamClient, subject: string): Promise<boolean> {
  const expect = { lastSequence: impossibleSequence };
  const refusal = await js
    .publish(subject, '', { expect, timeout: requestMs, retries: 0 })
    .catch((error: unknown) => error);
  return refusal instanceof JetStreamApiError && refusal.code === wrongLastSequence;
}
