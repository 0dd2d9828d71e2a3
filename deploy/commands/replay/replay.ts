import type { InputStreamName } from '../../../actors/messages/subjects.ts';
import { OperatorError } from '../../../actors/operatorError.ts';
import { readErrorMessage } from '../../../actors/readErrorMessage.ts';
import { cutRuns, findLastRun, type Lineage } from '../../../storage/runs/lineages.ts';
import { dropReplay, findReplayBase, selectReplayed } from '../../../storage/runs/replays.ts';
import { createSnapshotStore, type SnapshotStore } from '../../../storage/snapshots/snapshots.ts';
import { isRefusal } from '../../../storage/snapshots/snapshotText.ts';
import type { StoredSnapshotHeader } from '../../../storage/tables/foldSnapshot.ts';
import {
  createStreamActors,
  type StreamActors,
  streamDefinitions,
} from '../../../streams/definitions/streamDefinitions.ts';
import {
  createStreamVerifier,
  type StreamVerifier,
} from '../../../streams/jetstream/proofs/streamVerifier.ts';
import { replayRun } from '../../../streams/work/replayRun.ts';
import { createProgress } from '../../process/progress.ts';
import { systemClock } from '../../process/systemClock.ts';
import { compareRows, compareStates, digestRecords, type RecordDigests } from './compareFold.ts';
import { handOver } from './handOver.ts';
import type { ReplayOptions } from './replayOptions.ts';
import { planReplay, type ReplayPlan, type ReplayStart } from './replayPlan.ts';

export interface ReplayRequest {
  /** Only a dry run folds another stream than `MINER_COUNTER`. */
  readonly streams: readonly InputStreamName[];
  readonly from: ReplayStart;
}

/**
 * Folds streams again, each into a run of its own, and compares its rows and state with the current ones. Then the process that ingests continues
 * with the result, unless it is a dry run.
 *
 * @returns whether everything was done, and a dry run has found no difference.
 */
export async function replay(options: ReplayOptions, { streams, from }: ReplayRequest): Promise<boolean> {
  const actors = createStreamActors(options.deployment);
  let isSound = true;
  for (const stream of streams)
    try {
      isSound = (await replayStream({ ...options, actors, stream }, from)) && isSound;
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      options.print(`${stream}: ${error.message}`);
      isSound = false;
    }
  return isSound;
}

interface StreamReplay extends ReplayOptions {
  readonly stream: InputStreamName;
  readonly actors: StreamActors;
}

async function replayStream(replayed: StreamReplay, from: ReplayStart): Promise<boolean> {
  const { database, jetStream, stream, actors, dryRun, signal, print } = replayed;
  const identity = actors[stream]?.identity;
  if (identity === undefined || (await jetStream.info(stream)).lastSequence === 0) {
    print(`${stream}: nothing to fold`);
    return true;
  }
  const snapshots = createSnapshotStore(database);
  const verifier = createStreamVerifier({ jetStream, stream, clock: systemClock });
  const plan = await planReplay({ ...replayed, snapshots, identity, verifier }, from);
  const { after, newest, lineage } = plan;
  const { position: through } = newest;
  const digest = (header: StoredSnapshotHeader) => digestState(snapshots, header);
  // The service may remove it while messages are folded.
  const saved = await digest(newest);
  const beginning = after === 0 ? 'the beginning' : `the state that is saved at ${after}`;
  print(`replay of ${stream} through message ${through}, from ${beginning} on${dryRun ? ', a dry run' : ''}`);
  const filled = signal.aborted ? null : await fold({ ...replayed, snapshots, verifier }, plan);
  if (filled === null) {
    print('stopped: what is read has not changed, and the same command begins again');
    return false;
  }
  const runs = selectReplayed(filled);
  const headers = await snapshots.list(stream);
  const folded = headers.find((one) => one.run === findLastRun(runs) && one.position === through);
  if (folded === undefined)
    throw new OperatorError('the folded state was removed: run the same command again');
  const compared = [
    await compareRows(database, stream, { stored: lineage.runs, folded: runs, after, through }),
    compareStates(saved, await digest(folded)),
  ];
  for (const { lines } of compared) for (const line of lines) print(line);
  if (!dryRun) {
    print(await handOver(replayed, filled, through));
    return true;
  }
  await dropReplay(database, filled);
  const differing = compared.flatMap(({ differsFrom }) => differsFrom ?? []);
  if (differing.length > 0) print(streamDefinitions[stream].remedyFrom(Math.min(...differing)));
  return differing.length === 0;
}

async function digestState(...state: Parameters<typeof digestRecords>): Promise<RecordDigests> {
  try {
    return await digestRecords(...state);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const detail = `the newest state is damaged (${readErrorMessage(error)})`;
    throw new OperatorError(
      `${detail}: start the service, which restores an older state and saves a new one`,
    );
  }
}

/**
 * Folds the planned messages into runs that nobody reads yet, and returns their lineage. Null if it was stopped before the end.
 *
 * @throws OperatorError
 */
async function fold(
  replayed: StreamReplay & { readonly snapshots: SnapshotStore; readonly verifier: StreamVerifier },
  { after, newest, lineage }: ReplayPlan,
): Promise<Lineage | null> {
  const { database, stream, signal, print } = replayed;
  const { position: through } = newest;
  const kept = cutRuns(lineage.runs, after);
  const progress = createProgress({
    label: `folding ${stream}`,
    unit: 'messages',
    total: through,
    doneBefore: after,
  });
  const startedMs = systemClock.monotonicMs();
  const { filled, isComplete, hasLost } = await replayRun({
    ...replayed,
    clock: systemClock,
    through,
    from: { ...lineage, runs: kept, continuedRun: findLastRun(kept) },
    onFolded: progress.update,
  }).finally(progress.stop);
  // A state that it began with may have been removed.
  const isUsable = isComplete && findReplayBase(filled) === after;
  if (!isUsable) await dropReplay(database, filled);
  if (hasLost) throw new OperatorError('the stream has lost messages meanwhile: run the same command again');
  if (signal.aborted) return null;
  if (!isUsable)
    throw new OperatorError('it did not reach the newest saved state: run the same command again');
  const seconds = (systemClock.monotonicMs() - startedMs) / 1_000;
  const messages = through - after;
  print(
    `${messages} messages folded and stored in ${seconds.toFixed(1)} s (${Math.round(messages / seconds)} per second)`,
  );
  return filled;
}
