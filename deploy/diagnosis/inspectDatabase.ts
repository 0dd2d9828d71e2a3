import type { JetStreamManager } from '@nats-io/jetstream';
import { pino } from 'pino';
import { z } from 'zod';
import { readErrorMessage } from '../../actors/readErrorMessage.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { createOldestReadingMs, readReadingsTtlDays } from '../../storage/rows/readingsTtl.ts';
import { countRows } from '../../storage/rows/tableDifferences.ts';
import {
  findTip,
  readContinued,
  readLineage,
  selectVisible,
  type VisibleRuns,
} from '../../storage/runs/lineages.ts';
import { readCounted } from '../../storage/runs/mergedRuns.ts';
import { createSnapshotStore, type SnapshotStore } from '../../storage/snapshots/snapshots.ts';
import { halfHourBuckets } from '../../storage/tables/halfHourBuckets.ts';
import { createSelfAudit, type Drift } from '../../streams/audit/selfAudit.ts';
import { createStreamActors, listFolds } from '../../streams/folds/streamDefinitions.ts';
import { describeLost, findLost } from '../../streams/ingest/lostMessages.ts';
import { describeLostStreams, findLostStreams } from '../../streams/ingest/lostStreams.ts';
import { createStreamVerifier } from '../../streams/jetstream/proofs/streamVerifier.ts';
import { askUntilProven, createSuspicions } from '../../streams/jetstream/proofs/suspicions.ts';
import type { JetStream } from '../../streams/nats/natsLink.ts';
import type { Deployment } from '../configuration/deploymentFile.ts';
import { systemClock } from '../process/systemClock.ts';
import { checkDatabase } from './checkDatabase.ts';
import { checkDisk } from './checkDisk.ts';
import { checkSnapshots } from './checkSnapshots.ts';
import { type Finding, failed, findingSchema, ok, skipped, warned } from './finding.ts';

const samplesMax = 8;
export const auditCheck = 'self-audit';

export const databaseReport = z.object({ findings: z.array(findingSchema) });

interface InspectDatabaseOptions {
  readonly database: Database;
  /** Null while NATS is unavailable; then nothing is compared with the streams. */
  readonly jetStream: JetStream | null;
  /** Null if unknown. */
  readonly deployment: Deployment | null;
  readonly dataDir: string;
  readonly isQuick: boolean;
  readonly drifts: readonly Drift[];
}

/** Checks ClickHouse and what is stored there. */
export async function inspectDatabase(options: InspectDatabaseOptions): Promise<readonly Finding[]> {
  const { database, jetStream, deployment, dataDir, isQuick, drifts } = options;
  const findings: Finding[] = [];
  try {
    findings.push(...(await checkDatabase(database)), ...(await checkDisk(database, dataDir)));
    findings.push(...drifts.map(describeDrift));
  } catch (error) {
    const remedy = 'check MINER_CLICKHOUSE_URL and that the server runs';
    return [...findings, failed('ClickHouse', readErrorMessage(error), remedy)];
  }
  const isUnusable = findings.some(({ check, outcome }) => check !== auditCheck && outcome === 'failed');
  if (jetStream === null || isUnusable) return findings;
  try {
    const { jsm } = jetStream;
    const suspicions = createSuspicions(systemClock);
    const lostStreams = await askUntilProven(() =>
      findLostStreams({ database, jetStream, suspicions, clock: systemClock }),
    );
    if (lostStreams.length > 0) {
      const { detail, remedy } = describeLostStreams(lostStreams);
      return [...findings, failed('lost streams', detail, remedy)];
    }
    const snapshots = createSnapshotStore(database);
    const actors = deployment && createStreamActors(deployment);
    const folds = actors === null ? [] : listFolds(actors);
    const runs = (await readLineage(database, 'MINER_COUNTER', actors?.MINER_COUNTER.identity))?.runs ?? [];
    findings.push(
      ...(await checkSnapshots({
        jsm,
        snapshots,
        folds,
        findCounted: async (...fold) => readCounted(database, await readContinued(database, ...fold)),
        clock: systemClock,
      })),
    );
    const lost = await findLost({ database, jsm, nowMs: systemClock.nowMs }, runs);
    if (lost !== null)
      findings.push(
        warned(
          'retention',
          describeLost(lost),
          'keep messages, or rows, for as long as a rebuild has to reach back',
        ),
      );
    if (!isQuick) findings.push(...(await checkEnd(database, jsm, runs)));
    if (!isQuick && deployment !== null)
      findings.push(...(await sampleHalfHours({ ...options, jetStream, deployment, runs, snapshots })));
    return findings;
  } catch (error) {
    // ClickHouse has answered until now, but either of the two may have failed.
    const remedy = 'see what is said about NATS, and run it again';
    return [...findings, failed('comparison with the streams', readErrorMessage(error), remedy)];
  }
}

/** Finds out whether the counter stream has lost messages whose rows are stored. Its lost end may lie above the newest saved state. */
async function checkEnd(
  database: Database,
  jsm: JetStreamManager,
  runs: VisibleRuns,
): Promise<readonly Finding[]> {
  const stream = 'MINER_COUNTER';
  const tip = await findTip(database, { stream, runs });
  const verifier = createStreamVerifier({ jsm, stream, clock: systemClock });
  if (!(await askUntilProven(() => verifier.hasLostEnd(tip)))) return [];
  const { state } = await jsm.streams.info(stream);
  const detail = `ClickHouse holds readings through ${tip}, the stream ends at ${state.last_seq}`;
  const remedy =
    'the stream lost its end or was replaced; start the service, which recovers and logs the reason';
  return [failed('readings', detail, remedy)];
}

interface SampleOptions extends InspectDatabaseOptions {
  readonly jetStream: JetStream;
  readonly deployment: Deployment;
  readonly runs: VisibleRuns;
  readonly snapshots: SnapshotStore;
}

/** Compares some half hours, anywhere in the past, with the messages that they were made from. */
async function sampleHalfHours(options: SampleOptions): Promise<Finding[]> {
  const { database, jetStream, deployment, runs, snapshots } = options;
  const readingsTtlDays = await readReadingsTtlDays(database);
  let compared = 0;
  const audit = createSelfAudit(
    {
      ...jetStream,
      database,
      readRuns: async () => runs,
      oldestReadingMs: createOldestReadingMs(readingsTtlDays, systemClock.nowMs),
      genesisMs: deployment.genesisTimestamp * 1000,
      publicInstallationId: deployment.installationId,
      memory: () => null,
      snapshots,
      safeStates: () => [],
      blockAudit: null,
      random: Math.random,
      logger: pino({ level: 'silent' }),
    },
    {
      compared: (_, outcome) => {
        if (outcome !== 'skipped') compared++;
      },
    },
  );
  for (let sample = 0; sample < samplesMax; sample++) await audit.sample();
  const drifts = audit.drifts();
  if (drifts.length > 0) return drifts.map(describeDrift);
  if (compared === 0) return [skipped(auditCheck, 'no sampled half hour could be compared')];
  const total = await countRows(database, halfHourBuckets.name, selectVisible(runs));
  return [ok(auditCheck, `${compared} samples of ${total} half hours agree with their messages`)];
}

function describeDrift({ kind, about, differences, repair }: Drift): Finding {
  const remedy = kind === 'half_hour' ? `${repair}, with --dry-run first` : repair;
  return failed(auditCheck, `${about}: ${differences.join('; ')}`, remedy);
}
