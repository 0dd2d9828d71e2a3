import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { firstValueFrom } from 'rxjs';
import { isOfFold } from '../../../actors/foldIdentity.ts';
import { type CounterActors, createCounterActors } from '../../../actors/wheel/counterActors.ts';
import type { Database } from '../../../storage/database.ts';
import { deleteRows } from '../../../storage/deleteRowsAbove.ts';
import { compareDays } from '../../../storage/generationDifferences.ts';
import { noteGeneration } from '../../../storage/generationIdentity.ts';
import {
  activate,
  attachSnapshots,
  dropCounterSnapshots,
  dropTables,
  listGenerations,
} from '../../../storage/generations.ts';
import { readStored, storedThrough } from '../../../storage/observations.ts';
import type { ReplayLog } from '../../../storage/replayLog.ts';
import { applyRowsTtl, createOldestRowMs, readRowsTtlDays } from '../../../storage/rowsTtl.ts';
import { createSnapshotStore, type SnapshotStore } from '../../../storage/snapshots.ts';
import type { ReplayPlan } from '../../../storage/tables/replays.ts';
import { resolveTables, type Tables } from '../../../storage/tables.ts';
import { createMessageSource } from '../../../streams/jetstream/messageSource.ts';
import { whenAborted } from '../../../streams/operators/whenAborted.ts';
import { createRowWriter } from '../../../streams/rowWriter.ts';
import { runAlone } from '../../../streams/runAlone.ts';
import { createStreamFollower } from '../../../streams/streamFollower.ts';
import type { Deployment } from '../../deploymentFile.ts';
import { systemClock } from '../../systemClock.ts';
import { createProgress } from '../progress.ts';
import { describeDifferences } from './differenceLines.ts';
import { loadOthers, type PrepareReplayOptions, prepareReplay } from './prepareReplay.ts';
import { createReplayFold } from './replayFold.ts';
import { formatCommand, planReplay, ReplayRefused, type ReplayRequest } from './replayPlan.ts';

/** A replay that is asked to stop ends within this time. */
export const replayStopMs = 7_000;
/** The engine makes, merges and removes a part for each batch, which costs as much as the rows of a small one. */
const batchRows = 20_000;
const snapshotPolicy = { intervalMs: 5_000, messages: 500_000 };

/** Everything that the steps of a replay work with. */
export interface ReplayOptions {
  readonly connection: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly database: Database;
  readonly active: Tables;
  readonly log: ReplayLog;
  readonly deployment: Deployment;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
}

function createActors({ deployment }: ReplayOptions): CounterActors {
  return createCounterActors({
    genesisMs: deployment.genesisTimestamp * 1000,
    publicInstallationId: deployment.installationId,
  });
}

/** Removes what an unfinished replay has left. */
export async function discardReplay({ database, active, log, print }: ReplayOptions): Promise<void> {
  const unfinished = await log.unfinished(active.generation);
  if (unfinished === null) return print('no replay is unfinished: nothing to discard');
  const { plan } = unfinished;
  await log.note(plan, 'ended');
  await dropTables(database, resolveTables(plan.generation));
  if (plan.dryRun) await log.forget(plan);
  print(`the unfinished replay of ${describeRange(plan)} is discarded; the active tables are as they were`);
}

/**
 * Folds messages again into the tables of another generation, compares them and swaps them in; resumes the same request where it was stopped.
 *
 * @throws ReplayRefused
 */
export async function replay(parts: ReplayOptions, request: ReplayRequest): Promise<void> {
  const { database, active, print, signal } = parts;
  const createSnapshots = (tables: Tables) =>
    createSnapshotStore({ database, tables: () => tables, logger: parts.logger });
  const activeSnapshots = createSnapshots(active);
  const { plan, step, isResumed } = await plannedOrUnfinished(parts, request, activeSnapshots);
  const rebuilt = resolveTables(plan.generation);
  const rebuiltSnapshots = createSnapshots(rebuilt);
  const { installationId: publicInstallationId } = parts.deployment;
  const preparation = {
    database,
    plan,
    active,
    rebuilt,
    activeSnapshots,
    rebuiltSnapshots,
    publicInstallationId,
  };
  print(`${isResumed ? 'resuming the replay' : 'replay'} of ${describeRange(plan)}`);
  const prepare = async () => {
    await prepareReplay(preparation);
    await parts.log.note(plan, 'prepared');
  };
  // Copying the rows of years takes long; it may end anywhere, so that a stop does not wait for it.
  if (step === 'planned') await Promise.race([prepare(), firstValueFrom(whenAborted(signal))]);
  const isComplete = !signal.aborted && (await foldAll(parts, preparation));
  if (!isComplete || signal.aborted) {
    return print(
      'stopped; the same command resumes where it was, --discard removes what there is. The active tables are as they were.',
    );
  }
  await compareAndSwap(parts, plan, rebuilt);
}

/** The unfinished replay of the same command, or a new one. */
async function plannedOrUnfinished(parts: ReplayOptions, request: ReplayRequest, snapshots: SnapshotStore) {
  const { js, jsm, database, active, log, print } = parts;
  const { identity } = createActors(parts);
  const unfinished = await log.unfinished(active.generation);
  if (unfinished !== null) {
    const { plan } = unfinished;
    // Its tables are not those of this version, or have what another deployment folds.
    const isOfThis = plan.identity !== undefined && isOfFold(plan.identity, identity);
    if (!isOfThis) {
      await log.note(plan, 'ended');
      print('an unfinished replay of another version or deployment is discarded');
    } else if (plan.command !== formatCommand(request))
      throw new ReplayRefused(
        `another replay is unfinished, of ${describeRange(plan)}, requested as ${plan.command}: repeat the same options to resume it, or use --discard to remove it`,
      );
    else if (plan.baseGeneration === active.generation) return { ...unfinished, isResumed: true };
    else await log.note(plan, 'ended'); // Other tables became active meanwhile; it would bring back what they replaced.
  }
  // What the last swap left; a dry run changes nothing, not even that.
  const left = request.dryRun ? [] : await listGenerations(database);
  for (const generation of left)
    if (generation !== active.generation) await dropTables(database, resolveTables(generation));
  const { nowMs } = systemClock;
  const { plan, notRebuilt } = await planReplay(
    { js, jsm, database, tables: active, snapshots, identity, log, nowMs },
    request,
  );
  if (notRebuilt !== null) print(notRebuilt);
  await log.note(plan, 'planned');
  return { plan, step: 'planned' as const, isResumed: false };
}

/** False when it was stopped before the end; what is folded by then is saved. */
async function foldAll(parts: ReplayOptions, preparation: PrepareReplayOptions): Promise<boolean> {
  const { database, jsm, logger, signal } = parts;
  const { plan, rebuilt, rebuiltSnapshots } = preparation;
  const { fromSequence, throughSequence, installationId } = plan;
  const only = await loadOthers(preparation);
  // The signal does not repeat a stop that came while this was loaded.
  if (signal.aborted) return false;
  const stream = 'MINER_COUNTER';
  const tables = () => rebuilt;
  const writer = createRowWriter({ stream, database, tables, batchRows, clock: systemClock, logger });
  const progress: { bar: ReturnType<typeof createProgress> | null; from: number | null } = {
    bar: null,
    from: null,
  };
  const onProgress = (position: number) => {
    progress.from ??= position;
    progress.bar ??= createProgress({
      label: 'replay',
      unit: 'messages',
      total: throughSequence,
      doneBefore: position,
      showsLag: true,
      stream: process.stderr,
      nowMs: systemClock.monotonicMs,
    });
    progress.bar.update(position);
  };
  const removeRowsAbove = async (position: number) => {
    const whose = installationId === null ? '' : ' AND installation_id = {installation:String}';
    await deleteRows(database, rebuilt, {
      sql: `position > {position:UInt64}${whose}`,
      parameters: { position, installation: installationId ?? '' },
    });
  };
  const fold = createReplayFold({
    actors: createActors(parts),
    fromSequence,
    throughSequence,
    only,
    onProgress,
  });
  const oldestMs = createOldestRowMs(
    await readRowsTtlDays(database, parts.active.readings),
    systemClock.nowMs,
  )();
  const source = createMessageSource({
    ...parts,
    stream,
    clock: systemClock,
    through: throughSequence,
    readStored: (after, through) => readStored(database, parts.active, { after, through, oldestMs }),
  });
  const follower = createStreamFollower({
    stream,
    source,
    jsm,
    fold,
    snapshots: rebuiltSnapshots,
    sinks: {
      writer,
      rejections: null,
      // An attempt that was killed has left rows above its last snapshot; nobody reads these tables yet.
      resumeAfter: (position) => removeRowsAbove(Math.max(position, fromSequence - 1)),
      removeAbove: async () => undefined,
    },
    policy: snapshotPolicy,
    clock: systemClock,
    logger,
  });
  const startedMs = systemClock.monotonicMs();
  const running = runAlone(follower.member);
  void firstValueFrom(whenAborted(signal)).then(() => running.stop({ graceMs: replayStopMs }));
  try {
    await running.ended;
  } finally {
    progress.bar?.stop();
  }
  const { position, snapshotPosition, divergences } = follower.status();
  if (divergences > 0)
    throw new ReplayRefused(
      `${stream} is not the stream any more that it was when the replay began: run the command with --discard, then again`,
    );
  if (position < throughSequence) return false;
  const seconds = (systemClock.monotonicMs() - startedMs) / 1_000;
  const folded = throughSequence - (progress.from ?? throughSequence);
  parts.print(
    `${folded} messages folded and stored in ${seconds.toFixed(1)} s (${Math.round(folded / seconds)} per second)`,
  );
  if (snapshotPosition === throughSequence) return true;
  throw new ReplayRefused(
    `the end of the replay could not be saved (through ${snapshotPosition ?? 0} of ${throughSequence}): run the same command again`,
  );
}

async function compareAndSwap(parts: ReplayOptions, plan: ReplayPlan, rebuilt: Tables): Promise<void> {
  const { jsm, database, active, log, print } = parts;
  const { fromSequence, throughSequence, installationId, dryRun } = plan;
  const compared = Math.min(throughSequence, await storedThrough(database, active));
  const differences = await compareDays(database, active, rebuilt, {
    fromSequence,
    throughSequence: compared,
    installationId,
  });
  for (const line of await describeDifferences(database, differences, { active, rebuilt })) print(line);
  if (compared < throughSequence)
    print(`messages ${compared + 1} to ${throughSequence} are not in the active tables yet`);
  if (dryRun) {
    await dropTables(database, rebuilt);
    await log.forget(plan);
    return print('a dry run: nothing was changed');
  }
  if (installationId !== null) {
    // Those from the middle lack the progress of the other installations: they must not be restored.
    const dropped = { abovePosition: plan.basePosition ?? 0, exceptPosition: throughSequence };
    await dropCounterSnapshots(database, rebuilt, dropped);
  }
  for (const stream of ['MINER_PIPELINE', 'MINER_CHAIN'] as const)
    await attachSnapshots(database, active, rebuilt, { stream, position: null });
  const { created: streamCreated } = await jsm.streams.info('MINER_COUNTER');
  const { identity } = createActors(parts);
  await noteGeneration(database, rebuilt, { ...identity, streamCreated }, systemClock.nowMs());
  const days = await readRowsTtlDays(database, active.readings);
  await applyRowsTtl(database, rebuilt, { days, nowMs: systemClock.nowMs() });
  await activate(database, rebuilt);
  await log.note(plan, 'ended');
  print(
    `generation ${rebuilt.generation} is active; a running service takes it over within seconds and resumes after ${throughSequence}. ` +
      `Generation ${active.generation} stays until the next replay.`,
  );
}

function describeRange({
  fromSequence,
  throughSequence,
  installationId,
  dryRun,
  generation,
}: ReplayPlan): string {
  const whose = installationId === null ? '' : `, installation ${installationId}`;
  return `messages ${fromSequence} to ${throughSequence}${whose} into generation ${generation}${dryRun ? ', a dry run' : ''}`;
}
