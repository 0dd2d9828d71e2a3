import { firstValueFrom } from 'rxjs';
import { isOfFold } from '../../../actors/foldIdentity.ts';
import { inputStreamNames } from '../../../actors/messages/subjects.ts';
import { compareDays } from '../../../storage/generationDifferences.ts';
import { noteGeneration } from '../../../storage/generationIdentity.ts';
import {
  activate,
  attachSnapshots,
  dropCounterSnapshots,
  dropTables,
  listGenerations,
} from '../../../storage/generations.ts';
import { storedThrough } from '../../../storage/observations.ts';
import { applyRowsTtl, readRowsTtlDays } from '../../../storage/rowsTtl.ts';
import { createSnapshotStore, type SnapshotStore } from '../../../storage/snapshots.ts';
import type { ReplayPlan } from '../../../storage/tables/replays.ts';
import { resolveTables, type Tables } from '../../../storage/tables.ts';
import { counterStream } from '../../../streams/counter/counterStream.ts';
import { whenAborted } from '../../../streams/operators/whenAborted.ts';
import { systemClock } from '../../process/systemClock.ts';
import { describeDifferences } from './differenceLines.ts';
import { foldReplay } from './foldReplay.ts';
import { prepareReplay } from './prepareReplay.ts';
import type { ReplayOptions } from './replayOptions.ts';
import { formatCommand, planReplay, ReplayRefused, type ReplayRequest } from './replayPlan.ts';

export async function discardReplay({ database, active, log, print }: ReplayOptions): Promise<void> {
  const unfinished = await log.unfinished(active.generation);
  if (unfinished === null) return print('no replay is unfinished: nothing to discard');
  const { plan } = unfinished;
  await log.note(plan, 'ended');
  await dropTables(database, resolveTables(plan.generation));
  if (plan.dryRun) await log.forget(plan);
  print(`the unfinished replay of ${describeRange(plan)} is discarded; the active tables are unchanged`);
}

/**
 * Folds messages again into the tables of another generation, compares the tables and swaps them in. Resumes the same request after a stop.
 *
 * @throws ReplayRefused
 */
export async function replay(parts: ReplayOptions, request: ReplayRequest): Promise<void> {
  const { database, active, print, signal } = parts;
  const createSnapshots = (tables: Tables) => createSnapshotStore({ database, tables: () => tables });
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
  // Copying the rows of years takes long and may end anywhere, so a stop does not wait for it.
  if (step === 'planned') await Promise.race([prepare(), firstValueFrom(whenAborted(signal))]);
  const isComplete = !signal.aborted && (await foldReplay(parts, preparation));
  if (!isComplete || signal.aborted) {
    return print(
      'stopped; the same command resumes where it was, and --discard removes what was rebuilt. The active tables are unchanged.',
    );
  }
  await compareAndSwap(parts, plan, rebuilt);
}

/** The unfinished replay of the same command, or a new one. */
async function plannedOrUnfinished(parts: ReplayOptions, request: ReplayRequest, snapshots: SnapshotStore) {
  const { js, jsm, database, active, log, print } = parts;
  const { identity } = counterStream.createActors(parts.deployment);
  const unfinished = await log.unfinished(active.generation);
  if (unfinished !== null) {
    const { plan } = unfinished;
    // Its tables belong to another version or deployment.
    const isOfThis = isOfFold(plan.identity, identity);
    if (!isOfThis) {
      await log.note(plan, 'ended');
      print('an unfinished replay of another version or deployment is discarded');
    } else if (plan.command !== formatCommand(request))
      throw new ReplayRefused(
        `another replay is unfinished, of ${describeRange(plan)}, started with ${plan.command}: repeat the same options to resume it, or use --discard to remove it`,
      );
    else if (plan.baseGeneration === active.generation) return { ...unfinished, isResumed: true };
    else await log.note(plan, 'ended'); // Other tables became active meanwhile, and it would bring back the replaced ones.
  }
  // Remove tables left by the last swap, except in a dry run, which changes nothing.
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

async function compareAndSwap(parts: ReplayOptions, plan: ReplayPlan, rebuilt: Tables): Promise<void> {
  const { jsm, database, active, log, print } = parts;
  const { fromSequence, throughSequence, installationId, dryRun } = plan;
  const compared = Math.min(throughSequence, await storedThrough(database, active));
  const differences = await compareDays(
    database,
    { before: active, after: rebuilt },
    {
      fromSequence,
      throughSequence: compared,
      installationId,
    },
  );
  for (const line of await describeDifferences(database, differences, { active, rebuilt })) print(line);
  if (compared < throughSequence)
    print(`messages ${compared + 1} to ${throughSequence} are not in the active tables yet`);
  if (dryRun) {
    await dropTables(database, rebuilt);
    await log.forget(plan);
    return print('a dry run: nothing was changed');
  }
  if (installationId !== null) {
    // Snapshots from the middle lack the progress of the other installations and must not be restored.
    const dropped = { abovePosition: plan.basePosition ?? 0, exceptPosition: throughSequence };
    await dropCounterSnapshots(database, rebuilt, dropped);
  }
  for (const stream of inputStreamNames)
    if (stream !== 'MINER_COUNTER')
      await attachSnapshots(database, { from: active, to: rebuilt, stream, position: null });
  const { created: streamCreated } = await jsm.streams.info('MINER_COUNTER');
  const { identity } = counterStream.createActors(parts.deployment);
  await noteGeneration(database, {
    ...identity,
    streamCreated,
    generation: rebuilt.generation,
    atMs: systemClock.nowMs(),
  });
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
