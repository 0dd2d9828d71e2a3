import { join } from 'node:path';
import type { PeerCertificate } from 'node:tls';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { pino } from 'pino';
import { readErrorMessage } from '../../actors/readErrorMessage.ts';
import { type Database, openDatabase } from '../../storage/clickhouse/database.ts';
import { DirectoryInUse } from '../../storage/clickhouse/directoryLock.ts';
import { closeNats, reconnectForever } from '../../streams/nats/connection.ts';
import { readNatsAccess } from '../../streams/nats/natsAccess.ts';
import type { JetStream } from '../../streams/nats/natsLink.ts';
import {
  type BoundDeployment,
  boundDeployment,
  type Configuration,
  locateDatabase,
  readConfiguration,
  unknownVariables,
} from '../configuration/configuration.ts';
import { type Deployment, readDeploymentFile } from '../configuration/deploymentFile.ts';
import { locateNats } from '../configuration/natsConfiguration.ts';
import { type Finding, failed, formatFinding, ok, skipped } from '../diagnosis/finding.ts';
import { inspectDatabase } from '../diagnosis/inspectDatabase.ts';
import { findLocalNats } from '../local/localNats.ts';
import { endCommand } from '../process/endCommand.ts';
import { askAudit, askFindings } from './doctor/askFindings.ts';
import { checkChain } from './doctor/checkChain.ts';
import { checkNats, judgeCertificate } from './doctor/checkNats.ts';
import { checkRejections } from './doctor/checkRejections.ts';
import { checkSpans } from './doctor/checkSpans.ts';

const connectMs = 3_000;

export interface DoctorOptions {
  readonly quick?: boolean;
  /** Compares every row and state with a fresh fold. */
  readonly all?: boolean;
  /** First block to prove again; the deployment block by default. */
  readonly fromBlock?: bigint;
  readonly natsMonitoring?: string;
}

const silent = pino({ level: 'silent' });

/** The command line's `doctor`: checks every part, and names a remedy for each failure. Exits with status 1 if any failed. */
export async function runDoctor(options: DoctorOptions): Promise<void> {
  const counts = { failed: 0, skipped: 0 };
  const print = (findings: readonly Finding[]) => {
    for (const { outcome } of findings) if (outcome in counts) counts[outcome as keyof typeof counts]++;
    process.stdout.write(
      findings
        .flatMap(formatFinding)
        .map((line) => `${line}\n`)
        .join(''),
    );
  };
  await examine(options, print);
  process.stdout.write(`${summarize(options, counts)}\n`);
  endCommand(counts.failed === 0 ? 0 : 1);
}

/** Says how much was checked. */
function summarize(
  { quick = false, all = false }: DoctorOptions,
  { failed: failures, skipped: skips }: { readonly failed: number; readonly skipped: number },
): string {
  if (failures > 0) return `${failures} failed`;
  const skipped = skips === 0 ? '' : `, but ${skips === 1 ? '1 check was' : `${skips} checks were`} skipped`;
  const extent = quick
    ? '--quick reads neither rows nor messages'
    : all
      ? 'every row through the newest saved states was compared'
      : 'some half hours were compared: --all compares every row';
  return `nothing wrong was found${skipped}; ${extent}`;
}

function hasFailed(findings: readonly Finding[]): boolean {
  return findings.some(({ outcome }) => outcome === 'failed');
}

async function examine(
  { quick = false, all = false, fromBlock, natsMonitoring }: DoctorOptions,
  print: (findings: readonly Finding[]) => void,
) {
  const attemptCheck = createAttempts(print);
  const configuration = attemptCheck('configuration', 'correct the variables', () => {
    const read = readConfiguration(process.env);
    const unknown = unknownVariables(process.env);
    print([
      ok('configuration', unknown.length === 0 ? 'valid' : `valid; unknown variables: ${unknown.join(', ')}`),
    ]);
    return read;
  });
  if (configuration === null) return;
  const deployment = attemptCheck('deployment file', 'set MINER_DEPLOYMENT to a valid file', () => {
    const path = configuration.MINER_DEPLOYMENT ?? join(configuration.MINER_DATA_DIR, 'deployment.json');
    const read = readDeploymentFile(path);
    print([ok('deployment file', `${path}, installation ${read.installationId}`)]);
    return boundDeployment(read, configuration);
  });
  const connection = await connectForDiagnosis(configuration, print, {
    onCertificate: (certificate) => print([judgeCertificate(certificate, Date.now())]),
  });
  try {
    const parts = connection === null ? null : await openParts(connection);
    print(await inspect({ configuration, deployment, parts, isQuick: quick }));
    if (parts === null) {
      if (all) print([failed('everything', 'there are no streams to fold again', 'see NATS')]);
      return;
    }
    const { onChain } = deployment ?? { onChain: null };
    const { MINER_RETENTION_DAYS: retentionDays } = configuration;
    const monitoringUrl = natsMonitoring ?? null;
    const findings = await checkNats({ ...parts, onChain, retentionDays, monitoringUrl });
    print(findings);
    if (!hasFailed(findings)) print(await checkRejections(parts.jsm, Date.now()));
    if (deployment === null || hasFailed(findings)) return;
    await examineChain({ ...parts, configuration, deployment, quick, fromBlock }, print);
    if (all) print(await compareAll(configuration, deployment, parts));
  } finally {
    if (connection !== null) await closeNats(connection);
  }
}

export async function openParts(connection: NatsConnection): Promise<JetStream> {
  return {
    connection,
    js: jetstream(connection),
    jsm: await jetstreamManager(connection, { checkAPI: false }),
  };
}

/** Inspects ClickHouse: opens it here, or asks the service that has the embedded engine open. */
async function inspect({
  configuration,
  deployment,
  parts,
  isQuick,
}: {
  readonly configuration: Configuration;
  readonly deployment: Deployment | null;
  readonly parts: JetStream | null;
  readonly isQuick: boolean;
}): Promise<readonly Finding[]> {
  announce('ClickHouse, for up to 30 s if it does not answer');
  let database: Database;
  try {
    database = openDatabase(locateDatabase(configuration));
  } catch (error) {
    if (error instanceof DirectoryInUse) return askFindings(configuration, { isQuick, inUse: error.message });
    return [skipped('ClickHouse', readErrorMessage(error))];
  }
  try {
    const dataDir = configuration.MINER_DATA_DIR;
    const options = { database, jetStream: parts, deployment, dataDir, isQuick, drifts: [] };
    return [...(await inspectDatabase(options)), await askAudit(configuration)];
  } finally {
    await database.close();
  }
}

interface ExamineOptions extends JetStream {
  readonly configuration: Configuration;
  readonly deployment: BoundDeployment;
  readonly quick: boolean;
  readonly fromBlock: bigint | undefined;
}

/** Compares the stream of the chain with the node. */
async function examineChain(options: ExamineOptions, print: (findings: readonly Finding[]) => void) {
  const { configuration, deployment, jsm, quick, fromBlock } = options;
  const rpcUrl = configuration.MINER_RPC_URL;
  if (deployment.onChain === null) print([skipped('node', 'the deployment has no contracts')]);
  else if (rpcUrl === null) print([skipped('node', 'MINER_RPC_URL is not set')]);
  else {
    const { onChain } = deployment;
    const chainFindings = await checkChain(jsm, onChain, rpcUrl);
    print(chainFindings);
    if (quick) print([skipped('spans', 'skipped by --quick')]);
    else if (chainFindings.every(({ outcome }) => outcome === 'ok')) {
      const from = fromBlock ?? onChain.chain.deploymentBlock;
      print(await checkSpans({ ...options, onChain, rpcUrl, fromBlock: from, logger: silent }));
    }
  }
}

/** Connects to the configured NATS, or to the local one of a running service. Prints a finding and returns null if it does not answer. */
export async function connectForDiagnosis(
  configuration: Configuration,
  print: (findings: readonly Finding[]) => void,
  {
    onCertificate,
    reconnect = false,
  }: { readonly onCertificate?: (certificate: PeerCertificate) => void; readonly reconnect?: boolean } = {},
): Promise<NatsConnection | null> {
  const configured = locateNats(configuration);
  const access = configured ?? findLocalNats(join(configuration.MINER_DATA_DIR, 'nats'));
  if (access === null) {
    const detail =
      'MINER_NATS_URL is not set, and no service with a server of its own runs in MINER_DATA_DIR';
    print([skipped('NATS', detail)]);
    return null;
  }
  const { servers, ...credentials } = readNatsAccess(access, onCertificate);
  announce(`NATS at ${servers.join(', ')}`);
  try {
    return await connect({
      servers,
      ...credentials,
      timeout: connectMs,
      reconnect,
      ...reconnectForever,
      name: 'miner doctor',
    });
  } catch (error) {
    print([
      // Without the address's password.
      failed(
        'NATS',
        `${servers}: ${readErrorMessage(error)}`,
        configured === null
          ? 'start the service, which starts this nats-server, or set MINER_NATS_URL'
          : 'check MINER_NATS_URL and that nats-server runs',
      ),
    ]);
    return null;
  }
}

/** Compares everything that is stored with a fresh fold. The embedded engine can do that only while no service has it open. */
async function compareAll(
  configuration: Configuration,
  deployment: Deployment,
  parts: JetStream,
): Promise<Finding[]> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  announce('everything, which takes as long as a replay');
  let database: Database | null = null;
  try {
    database = openDatabase(locateDatabase(configuration));
    const { checkAll } = await import('./doctor/checkAll.ts');
    return await checkAll({ ...parts, database, deployment, signal: stopping.signal });
  } catch (error) {
    const remedy =
      error instanceof DirectoryInUse
        ? 'stop that process, and run it again'
        : 'correct that, and run it again';
    return [failed('everything', readErrorMessage(error), remedy)];
  } finally {
    await database?.close();
  }
}

function announce(what: string) {
  process.stderr.write(`checking ${what}\n`);
}

/** Creates a function that runs a check. It prints a failure and returns null. */
function createAttempts(print: (findings: readonly Finding[]) => void) {
  return <Value>(check: string, remedy: string, attempt: () => Value): Value | null => {
    try {
      return attempt();
    } catch (error) {
      print([failed(check, readErrorMessage(error), remedy)]);
      return null;
    }
  };
}
