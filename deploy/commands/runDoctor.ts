import { join } from 'node:path';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { pino } from 'pino';
import { readErrorMessage } from '../../actors/readErrorMessage.ts';
import { type Database, openDatabase } from '../../storage/database.ts';
import { activeTables } from '../../storage/generations.ts';
import { closeNats } from '../../streams/jetstream/connection.ts';
import { readNatsAccess } from '../../streams/jetstream/natsAccess.ts';
import { type Configuration, locateDatabase, readConfiguration, unknownVariables } from '../configuration.ts';
import { type Deployment, readDeploymentFile } from '../deploymentFile.ts';
import { locateNats } from '../natsConfiguration.ts';
import { checkChain } from './doctor/checkChain.ts';
import { checkDatabase } from './doctor/checkDatabase.ts';
import { checkNats } from './doctor/checkNats.ts';
import { checkReadings } from './doctor/checkReadings.ts';
import { checkSpans } from './doctor/checkSpans.ts';
import { type Finding, failed, formatFinding, ok, skipped } from './doctor/finding.ts';

const connectMs = 3_000;

export interface DoctorOptions {
  /** Skips the checks that read whole streams. */
  readonly quick?: boolean;
  /** First block of the chain that is proven again; the deployment's by default. */
  readonly fromBlock?: bigint;
}

/** The command line's `doctor`: checks every part, and names a remedy for each failure. Exits with status 1 if any failed. */
export async function runDoctor(options: DoctorOptions): Promise<void> {
  let failures = 0;
  const print = (findings: readonly Finding[]) => {
    failures += findings.filter(({ outcome }) => outcome === 'failed').length;
    process.stdout.write(
      findings
        .flatMap(formatFinding)
        .map((line) => `${line}\n`)
        .join(''),
    );
  };
  await examine(options, print);
  process.stdout.write(failures === 0 ? 'nothing is wrong\n' : `${failures} failed\n`);
  process.exitCode = failures === 0 ? 0 : 1;
}

async function examine(
  { quick = false, fromBlock }: DoctorOptions,
  print: (findings: readonly Finding[]) => void,
) {
  const configuration = attemptCheck('configuration', 'correct the variables', print, () => {
    const read = readConfiguration(process.env);
    const unknown = unknownVariables(process.env);
    print([
      ok('configuration', unknown.length === 0 ? 'valid' : `valid; unknown variables: ${unknown.join(', ')}`),
    ]);
    return read;
  });
  if (configuration === null) return;
  const deployment = attemptCheck('deployment file', 'set MINER_DEPLOYMENT to a valid file', print, () => {
    const path = configuration.MINER_DEPLOYMENT ?? join(configuration.MINER_DATA_DIR, 'deployment.json');
    const read = readDeploymentFile(path);
    print([ok('deployment file', `${path}, installation ${read.installationId}`)]);
    return read;
  });
  const connection = await connectToNats(configuration, print);
  const database = openConfiguredDatabase(configuration, print);
  try {
    if (database !== null) print(await checkDatabase(database).catch(reportUnreachable));
    if (connection !== null)
      await examineStreams({ configuration, deployment, connection, database, quick, fromBlock }, print);
  } finally {
    if (connection !== null) await closeNats(connection);
    await database?.close();
  }
}

interface ExamineOptions {
  readonly configuration: Configuration;
  readonly deployment: Deployment | null;
  readonly connection: NatsConnection;
  readonly database: Database | null;
  readonly quick: boolean;
  readonly fromBlock: bigint | undefined;
}

async function examineStreams(options: ExamineOptions, print: (findings: readonly Finding[]) => void) {
  const { configuration, deployment, connection, database, quick, fromBlock } = options;
  const jsm = await jetstreamManager(connection, { checkAPI: false });
  const findings = await checkNats(connection, jsm);
  print(findings);
  if (deployment === null || findings.some(({ outcome }) => outcome === 'failed')) return;
  if (quick || database === null)
    print([skipped('readings', quick ? 'skipped by --quick' : 'ClickHouse is not open')]);
  else {
    const tables = await activeTables(database);
    print(
      await checkReadings({
        connection,
        js: jetstream(connection),
        jsm,
        database,
        tables,
        deployment,
        logger: pino({ level: 'silent' }),
        progressStream: process.stderr,
      }).catch(reportUnreachable),
    );
  }
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
      print(await checkSpans({ jsm, onChain, rpcUrl, fromBlock: from, progressStream: process.stderr }));
    }
  }
}

async function connectToNats(
  configuration: Configuration,
  print: (findings: readonly Finding[]) => void,
): Promise<NatsConnection | null> {
  const access = locateNats(configuration);
  if (access === null) {
    print([
      skipped(
        'NATS',
        `MINER_NATS_URL is not set: the local server runs with the service; its address is in ${join(configuration.MINER_DATA_DIR, 'nats', 'url')}`,
      ),
    ]);
    return null;
  }
  const { servers, ...credentials } = readNatsAccess(access);
  try {
    return await connect({
      servers,
      ...credentials,
      timeout: connectMs,
      reconnect: false,
      name: 'miner doctor',
    });
  } catch (error) {
    print([
      // Without the password that the address may hold.
      failed(
        'NATS',
        `${servers}: ${readErrorMessage(error)}`,
        'check MINER_NATS_URL and that nats-server runs',
      ),
    ]);
    return null;
  }
}

function openConfiguredDatabase(
  configuration: Configuration,
  print: (findings: readonly Finding[]) => void,
): Database | null {
  try {
    return openDatabase(locateDatabase(configuration));
  } catch (error) {
    print([skipped('ClickHouse', readErrorMessage(error))]);
    return null;
  }
}

function reportUnreachable(error: unknown): Finding[] {
  return [
    failed('ClickHouse', readErrorMessage(error), 'check MINER_CLICKHOUSE_URL and that the server runs'),
  ];
}

function attemptCheck<Value>(
  check: string,
  remedy: string,
  print: (findings: readonly Finding[]) => void,
  attempt: () => Value,
): Value | null {
  try {
    return attempt();
  } catch (error) {
    print([failed(check, readErrorMessage(error), remedy)]);
    return null;
  }
}
