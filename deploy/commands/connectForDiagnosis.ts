import { join } from 'node:path';
import type { PeerCertificate } from 'node:tls';
import { readErrorMessage } from '../../actors/readErrorMessage.ts';
import { dayMs } from '../../actors/schemas/durations.ts';
import { openJetStream } from '../../streams/nats/jetStreamPort.ts';
import { readNatsAccess } from '../../streams/nats/natsAccess.ts';
import type { StreamPort } from '../../streams/nats/streamPort.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { locateNats } from '../configuration/natsConfiguration.ts';
import { type Finding, failed, ok, skipped, warned } from '../diagnosis/finding.ts';
import { findLocalNats } from '../local/localNats.ts';

const connectMs = 3_000;
/** A connection outlives its certificate, but the next one is refused. */
const certificateWarnedDays = 30;

/** Connects to the configured NATS, or to the local one of a running service. The finding is about the server's certificate, or says why there is no connection. */
export async function connectForDiagnosis(
  configuration: Configuration,
): Promise<{ readonly jetStream: StreamPort | null; readonly finding: Finding | null }> {
  const configured = locateNats(configuration);
  const access = configured ?? findLocalNats(join(configuration.MINER_DATA_DIR, 'nats'));
  if (access === null) {
    const detail =
      'MINER_NATS_URL is not set, and no service with a server of its own runs in MINER_DATA_DIR';
    return { jetStream: null, finding: skipped('NATS', detail) };
  }
  let finding: Finding | null = null;
  const { servers, ...credentials } = readNatsAccess(access, (certificate) => {
    finding = judgeCertificate(certificate);
  });
  process.stderr.write(`checking NATS at ${servers.join(', ')}\n`);
  const options = { timeout: connectMs, reconnect: false, name: 'miner doctor' };
  try {
    const jetStream = await openJetStream({ servers, ...credentials, ...options });
    return { jetStream, finding };
  } catch (error) {
    const remedy =
      configured === null
        ? 'start the service, which starts this nats-server, or set MINER_NATS_URL'
        : 'check MINER_NATS_URL and that nats-server runs';
    // Without the address's password.
    return { jetStream: null, finding: failed('NATS', `${servers}: ${readErrorMessage(error)}`, remedy) };
  }
}

/** Says how long the certificate of the server is valid. An expired one is never seen, since the connection is refused. */
function judgeCertificate({ valid_to }: PeerCertificate): Finding {
  const endsAtMs = Date.parse(valid_to);
  const days = Math.floor((endsAtMs - Date.now()) / dayMs);
  const detail = `valid until ${new Date(endsAtMs).toISOString()}, for ${days} days`;
  if (days >= certificateWarnedDays) return ok('NATS certificate', detail);
  const consequence = `${detail}: then no process and no publisher can connect`;
  return warned('NATS certificate', consequence, 'renew it: deploy/RUNBOOK.md, "Renewing certificates"');
}
