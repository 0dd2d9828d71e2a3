import { constants } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { z } from 'zod';
import { type FoldIdentity, isOfFold } from '../../actors/folds/foldIdentity.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import { readErrorMessage } from '../../actors/readErrorMessage.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { readServerVersion, requireSupportedServer } from '../../storage/clickhouse/serverVersion.ts';
import { findDamagedParts, readDisks } from '../../storage/clickhouse/systemTables.ts';
import { requireUsable } from '../../storage/migration/migrate.ts';
import { findTip, readContinued, readLineage } from '../../storage/runs/lineages.ts';
import { type IsCounted, readCounted } from '../../storage/runs/mergedRuns.ts';
import { createSnapshotStore } from '../../storage/snapshots/snapshots.ts';
import { isRefusal } from '../../storage/snapshots/snapshotText.ts';
import type { Drift } from '../../streams/audit/auditBlock.ts';
import { createStreamActors, listFolds } from '../../streams/definitions/streamDefinitions.ts';
import { describeLost, findLost } from '../../streams/ingest/lostMessages.ts';
import { describeLostStreams, findLostStreams } from '../../streams/ingest/lostStreams.ts';
import { createStreamVerifier, StreamDiverged } from '../../streams/jetstream/proofs/streamVerifier.ts';
import { askUntilProven, createSuspicions } from '../../streams/jetstream/proofs/suspicions.ts';
import type { StreamPort } from '../../streams/nats/streamPort.ts';
import type { StateSaverOptions } from '../../streams/pipeline/stateSaver.ts';
import type { Deployment } from '../configuration/deploymentFile.ts';
import { systemClock } from '../process/systemClock.ts';
import {
  type Check,
  type Finding,
  type Findings,
  failed,
  findingSchema,
  ok,
  runChecks,
  skipped,
  warned,
} from './finding.ts';

const mib = 1024 * 1024;
/** With less free space a merge of parts may not fit. */
const nearlyFullBytes = 256 * mib;
/** With less free space it is time to act, whether the disk is small or large. */
const scarceBytes = 2_048 * mib;
export const auditCheck = 'self-audit';

/** Body of `/diagnosis`. */
export const databaseReport = z.object({ findings: z.array(findingSchema) });

interface InspectedDatabase {
  readonly database: Database;
  /** Null while NATS is unavailable; then nothing is compared with the streams. */
  readonly jetStream: StreamPort | null;
  /** Null if unknown. */
  readonly deployment: Deployment | null;
  readonly dataDir: string;
  /** Differences that the self-audit of this process knows. */
  readonly drifts: readonly Drift[];
}

type ComparedDatabase = InspectedDatabase & { readonly jetStream: StreamPort };

const look = 'check MINER_CLICKHOUSE_URL and that the server runs';
const databaseChecks: readonly Check<InspectedDatabase>[][] = [
  [['ClickHouse', checkVersion, look]],
  [
    ['migrations', checkMigrations, 'deploy/RUNBOOK.md, "Rollback"'],
    ['parts', checkParts, look],
    ['disk', checkDisk, look],
  ],
];

/** ClickHouse has answered before, but either of the two may fail now. */
const [comparison, repeat] = ['comparison with the streams', 'see what is said about NATS, and run it again'];
const storedChecks: readonly Check<ComparedDatabase>[][] = [
  [[comparison, checkLostStreams, repeat]],
  [
    [comparison, checkSnapshots, repeat],
    [comparison, checkReadings, repeat],
  ],
];

/** Checks ClickHouse and what is stored there. */
export async function* inspectDatabase(inspected: InspectedDatabase): Findings {
  const { jetStream, drifts } = inspected;
  for (const { about, differences, repair } of drifts)
    yield failed(auditCheck, `${about}: ${differences.join('; ')}`, repair);
  const isUsable = yield* runChecks(databaseChecks, inspected);
  if (isUsable && jetStream !== null) yield* runChecks(storedChecks, { ...inspected, jetStream });
}

async function* checkVersion({ database }: InspectedDatabase): Findings {
  await requireSupportedServer(database);
  yield ok('ClickHouse', `${database.kind}, version ${await readServerVersion(database)}`);
}

async function* checkMigrations({ database }: InspectedDatabase): Findings {
  const { applied, known } = await requireUsable(database);
  const start = 'start the service once: it migrates the database';
  yield applied === known
    ? ok('migrations', `all ${known} applied`)
    : failed('migrations', `${applied} of ${known} applied`, start);
}

/** ClickHouse may have set parts aside: their rows are missing, but no statement fails. */
async function* checkParts({ database }: InspectedDatabase): Findings {
  const damaged = await findDamagedParts(database);
  if (damaged.length === 0) yield ok('parts', 'none is damaged');
  for (const { table, count } of damaged) {
    const detail = `ClickHouse has set ${count} damaged part${count === 1 ? '' : 's'} of ${table} aside`;
    yield failed('parts', detail, 'deploy/RUNBOOK.md, "Damaged files"');
  }
}

/** Checks the free space of the tables, and whether the embedded engine can write its folder. */
async function* checkDisk({ database, dataDir }: InspectedDatabase): Findings {
  if (database.kind === 'server') {
    for (const [name, free, total] of await readDisks(database))
      yield judgeRoom(`disk ${name} of ClickHouse`, free, total);
    return;
  }
  const { bavail, bsize, blocks } = await statfs(dataDir);
  yield judgeRoom(`disk of ${dataDir}`, bavail * bsize, blocks * bsize);
  const mode = constants.R_OK | constants.W_OK | constants.X_OK;
  const problem = await access(dataDir, mode).catch(readErrorMessage);
  yield problem === undefined
    ? ok('folder', `${dataDir} can be written`)
    : failed('folder', problem, 'give the user of the service the folder MINER_DATA_DIR');
}

export function judgeRoom(check: string, freeBytes: number, totalBytes: number): Finding {
  const detail = `${Math.round(freeBytes / mib)} MiB of ${Math.round(totalBytes / mib)} are free`;
  const meanwhile = 'Nothing is lost meanwhile: rows wait, then messages wait in JetStream';
  const roomy = `make room, or a larger disk: deploy/RUNBOOK.md, "Disk full". ${meanwhile}`;
  if (freeBytes >= scarceBytes) return ok(check, detail);
  return (freeBytes < nearlyFullBytes ? failed : warned)(check, detail, roomy);
}

async function* checkLostStreams({ database, jetStream }: ComparedDatabase): Findings {
  const suspicions = createSuspicions(systemClock);
  const lost = await askUntilProven(() =>
    findLostStreams({ database, jetStream, suspicions, clock: systemClock }),
  );
  const { detail, remedy } = describeLostStreams(lost);
  if (lost.length > 0) yield failed('lost streams', detail, remedy);
}

async function* checkSnapshots({ database, jetStream, deployment }: ComparedDatabase): Findings {
  const sources = { jetStream, snapshots: createSnapshotStore(database), clock: systemClock };
  for (const fold of deployment === null ? [] : listFolds(createStreamActors(deployment))) {
    const isCounted = await readCounted(database, await readContinued(database, ...fold));
    yield await judgeSnapshots(sources, fold, isCounted);
  }
}

/** Says whether a start finds a complete snapshot whose rows count, that agrees with the stream and is continued by it. */
export async function judgeSnapshots(
  {
    jetStream,
    snapshots,
    clock,
  }: Pick<StateSaverOptions, 'snapshots' | 'clock'> & { readonly jetStream: StreamPort },
  [stream, identity]: readonly [InputStreamName, FoldIdentity],
  isCounted: IsCounted,
): Promise<Finding> {
  const check = `snapshots ${stream}`;
  const all = await snapshots.list(stream);
  const ofFold = all.filter((header) => isOfFold(header, identity));
  const usable = ofFold.filter(isCounted);
  const [newest] = usable;
  const { firstSequence: first, lastSequence: last } = await jetStream.info(stream);
  if (newest === undefined) {
    const others =
      ofFold.length === 0 ? 'are of another version or deployment' : 'have rows that no longer count';
    const found = all.length === 0 ? 'there is none' : `${ofFold.length || all.length} ${others}`;
    if (last === 0) return skipped(check, found);
    if (first <= 1) return ok(check, `${found}: the next start folds the stream from its beginning`);
    const run = 'run the version and deployment that the snapshots are of';
    const remedy = `${run}, or restore a backup (deploy/RUNBOOK.md, "Backup and restore")`;
    return failed(check, `${found}, and the stream begins at ${first}`, remedy);
  }
  const { position } = newest;
  try {
    const { verify } = createStreamVerifier({ jetStream, stream, clock });
    await askUntilProven(() => verify(newest));
    let count = 0;
    for await (const records of snapshots.read(newest)) count += records.length;
    const ageSeconds = Math.round((clock.nowMs() - newest.takenAtMs) / 1000);
    const detail = `${usable.length} can be restored; the newest, at message ${position}, was taken ${ageSeconds} s ago and holds ${count} records`;
    if (position + 1 >= first) return ok(check, detail);
    const take =
      'start an ingest process: it takes what ClickHouse holds of the messages in between, and saves a snapshot';
    return warned(check, `${detail}; the stream begins later, at ${first}`, take);
  } catch (error) {
    const restores = 'start the service: it restores an older one';
    if (error instanceof StreamDiverged)
      return failed(check, error.message, `${restores} that agrees, and logs the reason`);
    if (!isRefusal(error)) throw error;
    const damage = `the newest, at message ${position}, is damaged (${readErrorMessage(error)})`;
    return failed(check, damage, `${restores}, and saves a new one`);
  }
}

/** Finds out whether readings can no longer be folded again, or the stream has lost its end above the newest saved state. */
async function* checkReadings({ database, jetStream, deployment }: ComparedDatabase): Findings {
  const stream = 'MINER_COUNTER';
  const identity = deployment === null ? {} : createStreamActors(deployment)[stream].identity;
  const runs = (await readLineage(database, stream, identity))?.runs ?? [];
  const lost = await findLost({ database, jetStream, nowMs: systemClock.nowMs }, runs);
  const keep = 'keep messages, or rows, for as long as a rebuild has to reach back';
  if (lost !== null) yield warned('retention', describeLost(lost), keep);
  const tip = await findTip(database, { stream, runs });
  const verifier = createStreamVerifier({ jetStream, stream, clock: systemClock });
  if (!(await askUntilProven(() => verifier.hasLostEnd(tip)))) return;
  const { lastSequence } = await jetStream.info(stream);
  const ends = `ClickHouse holds readings through ${tip}, the stream ends at ${lastSequence}`;
  const start =
    'the stream lost its end or was replaced; start the service, which recovers and logs the reason';
  yield failed('readings', ends, start);
}
