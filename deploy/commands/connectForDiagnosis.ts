import { join } from 'node:path';
import type { PeerCertificate } from 'node:tls';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { readErrorMessage } from '../../actors/readErrorMessage.ts';
import { reconnectForever } from '../../streams/nats/connection.ts';
import { readNatsAccess } from '../../streams/nats/natsAccess.ts';
import type { JetStream } from '../../streams/nats/natsLink.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { locateNats } from '../configuration/natsConfiguration.ts';
import { type Finding, failed, skipped } from '../diagnosis/finding.ts';
import { findLocalNats } from '../local/localNats.ts';

const connectMs = 3_000;

interface DiagnosisOptions {
  readonly onCertificate?: (certificate: PeerCertificate) => void;
  readonly reconnect?: boolean;
}

/** Connects to the configured NATS, or to the local one of a running service. Returns a finding if it does not answer. */
export async function connectForDiagnosis(
  configuration: Configuration,
  { onCertificate, reconnect = false }: DiagnosisOptions = {},
): Promise<JetStream | Finding> {
  const configured = locateNats(configuration);
  const access = configured ?? findLocalNats(join(configuration.MINER_DATA_DIR, 'nats'));
  if (access === null)
    return skipped(
      'NATS',
      'MINER_NATS_URL is not set, and no service with a server of its own runs in MINER_DATA_DIR',
    );
  const { servers, ...credentials } = readNatsAccess(access, onCertificate);
  process.stderr.write(`checking NATS at ${servers.join(', ')}\n`);
  try {
    const connection = await connect({
      servers,
      ...credentials,
      timeout: connectMs,
      reconnect,
      ...reconnectForever,
      name: 'miner doctor',
    });
    const jsm = await jetstreamManager(connection, { checkAPI: false });
    return { connection, js: jetstream(connection), jsm };
  } catch (error) {
    return failed(
      'NATS',
      // Without the address's password.
      `${servers}: ${readErrorMessage(error)}`,
      configured === null
        ? 'start the service, which starts this nats-server, or set MINER_NATS_URL'
        : 'check MINER_NATS_URL and that nats-server runs',
    );
  }
}
