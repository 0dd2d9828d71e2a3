import { join } from 'node:path';
import { readErrorMessage } from '../../actors/readErrorMessage.ts';
import { formatAuthority } from '../../http/server/engine/listener.ts';
import { type Database, openDatabase } from '../../storage/clickhouse/database.ts';
import { DirectoryInUse } from '../../storage/clickhouse/directoryLock.ts';
import {
  type Configuration,
  locateDatabase,
  readConfiguration,
  unknownVariables,
} from '../configuration/configuration.ts';
import { type Deployment, readDeploymentFile } from '../configuration/deploymentFile.ts';
import {
  type Finding,
  type Findings,
  failed,
  formatFinding,
  ok,
  runChecks,
  skipped,
} from '../diagnosis/finding.ts';
import { auditCheck, databaseReport, inspectDatabase } from '../diagnosis/inspectDatabase.ts';
import { endCommand } from '../process/endCommand.ts';
import { connectForDiagnosis } from './connectForDiagnosis.ts';
import { natsChecks } from './doctor/checkNats.ts';

const answerMs = 15_000;

/** The command line's `doctor`: checks every part, and names a remedy for each failure. Exits with status 1 if any failed. */
export async function runDoctor(monitoringUrl: string | null): Promise<void> {
  const counts = { ok: 0, warning: 0, failed: 0, skipped: 0 };
  for await (const finding of examine(monitoringUrl)) {
    counts[finding.outcome]++;
    process.stdout.write(formatFinding(finding));
  }
  const { failed: failures, skipped: skips } = counts;
  const left = skips === 0 ? '' : `, but ${skips === 1 ? '1 check was' : `${skips} checks were`} skipped`;
  const compare = '`miner replay --dry-run` compares every row and state with the streams';
  const sound = `nothing wrong was found${left}; ${compare}`;
  process.stdout.write(`${failures > 0 ? `${failures} failed` : sound}\n`);
  endCommand(failures === 0 ? 0 : 1);
}

async function* examine(monitoringUrl: string | null): Findings {
  let configuration: Configuration;
  try {
    configuration = readConfiguration(process.env);
  } catch (error) {
    return yield failed('configuration', readErrorMessage(error), 'correct the variables');
  }
  const unknown = unknownVariables(process.env);
  const unknownText = unknown.length === 0 ? '' : `; unknown variables: ${unknown.join(', ')}`;
  yield ok('configuration', `valid${unknownText}`);
  const path = configuration.MINER_DEPLOYMENT ?? join(configuration.MINER_DATA_DIR, 'deployment.json');
  let deployment: Deployment | null = null;
  try {
    deployment = readDeploymentFile(path);
    yield ok('deployment file', `${path}, installation ${deployment.installationId}`);
  } catch (error) {
    yield failed('deployment file', readErrorMessage(error), 'set MINER_DEPLOYMENT to a valid file');
  }
  const { jetStream, finding } = await connectForDiagnosis(configuration);
  if (finding !== null) yield finding;
  try {
    yield* examineDatabase(configuration, { deployment, jetStream });
    if (jetStream !== null)
      yield* runChecks(natsChecks, {
        jetStream,
        onChain: deployment?.onChain,
        rpcUrl: configuration.MINER_RPC_URL,
        retentionDays: configuration.MINER_RETENTION_DAYS,
        monitoringUrl,
        nowMs: Date.now,
      });
  } finally {
    await jetStream?.close();
  }
}

/** Inspects ClickHouse: opens it here, or relies on the running service that has the embedded engine open. */
export async function* examineDatabase(
  configuration: Configuration,
  parts: Pick<Parameters<typeof inspectDatabase>[0], 'deployment' | 'jetStream'>,
): Findings {
  process.stderr.write('checking ClickHouse, for up to 30 s if it does not answer\n');
  const { MINER_OPS_HOST: host, MINER_OPS_PORT: port } = configuration;
  const reachable = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host;
  const url = `http://${formatAuthority(reachable, port)}/diagnosis`;
  const service = await askService(url).catch((error: unknown) => `${url}: ${readErrorMessage(error)}`);
  let database: Database;
  try {
    database = openDatabase(locateDatabase(configuration));
  } catch (error) {
    const detail = readErrorMessage(error);
    if (!(error instanceof DirectoryInUse)) yield skipped('ClickHouse', detail);
    else if (typeof service !== 'string') yield* service;
    else
      yield skipped('ClickHouse', `${detail} Asking it failed at ${service}; set MINER_OPS_PORT to its port`);
    return;
  }
  try {
    yield* inspectDatabase({ ...parts, database, dataDir: configuration.MINER_DATA_DIR, drifts: [] });
  } finally {
    await database.close();
  }
  const check = 'self-audit of the service';
  if (typeof service === 'string')
    return yield skipped(check, `no service answers at ${service}; set MINER_OPS_PORT to its port`);
  const drifts = service.filter((finding) => finding.check === auditCheck);
  if (drifts.length === 0) yield ok(check, 'nothing is known to differ');
  for (const drift of drifts) yield { ...drift, check };
}

/** Asks a running service for its findings. Another program, or a service of another version, may answer. */
async function askService(url: string): Promise<readonly Finding[]> {
  const response = await fetch(url, { signal: AbortSignal.timeout(answerMs) });
  if (response.status !== 200) throw new Error(`status ${response.status}`);
  const report = databaseReport.safeParse(await response.json().catch(() => null));
  if (!report.success) throw new Error('a body that is no report of this version');
  return report.data.findings;
}
