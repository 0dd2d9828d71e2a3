import { firstValueFrom } from 'rxjs';
import { deleteRows } from '../../../storage/deleteRowsAbove.ts';
import { createOldestRowMs, readRowsTtlDays } from '../../../storage/rowsTtl.ts';
import type { ReplayPlan } from '../../../storage/tables/replays.ts';
import { counterStream } from '../../../streams/counter/counterStream.ts';
import { createStoredReadings } from '../../../streams/counter/storedReadings.ts';
import { createStreamFollower } from '../../../streams/follower/streamFollower.ts';
import { createMessageSource, type MessageSource } from '../../../streams/jetstream/source/messageSource.ts';
import { createStreamVerifier, type StreamVerifier } from '../../../streams/jetstream/sourceVerification.ts';
import { runAlone } from '../../../streams/operators/runAlone.ts';
import { whenAborted } from '../../../streams/operators/whenAborted.ts';
import { createRowWriter } from '../../../streams/pipeline/rowWriter.ts';
import { createProgress, type Progress } from '../../process/progress.ts';
import { systemClock } from '../../process/systemClock.ts';
import { loadOthers, type PrepareReplayOptions } from './prepareReplay.ts';
import { createReplayFold } from './replayFold.ts';
import type { ReplayOptions } from './replayOptions.ts';
import { ReplayRefused } from './replayPlan.ts';

const stream = 'MINER_COUNTER';
/** A stopped replay ends within this time. */
export const replayStopMs = 7_000;
/** The engine creates, merges and removes a part for each batch, which costs as much as the rows of a small batch. */
const batchRows = 20_000;
const snapshotPolicy = { intervalMs: 5_000, messages: 500_000 };

/** Folds the planned messages. False if it was stopped before the end; then the folded state is saved. */
export async function foldReplay(parts: ReplayOptions, preparation: PrepareReplayOptions): Promise<boolean> {
  const { database, jsm, logger, signal } = parts;
  const { plan, rebuilt, rebuiltSnapshots } = preparation;
  const { fromSequence, throughSequence, installationId } = plan;
  const only = await loadOthers(preparation);
  // The stop may have come while this module was loaded.
  if (signal.aborted) return false;
  const tables = () => rebuilt;
  const writer = createRowWriter({ stream, database, tables, batchRows, clock: systemClock, logger });
  let progress: Progress | null = null;
  let from = throughSequence;
  const onProgress = (position: number) => {
    if (progress === null) from = position;
    progress ??= createProgress({
      label: 'replay',
      unit: 'messages',
      total: throughSequence,
      doneBefore: position,
      showsLag: true,
    });
    progress.update(position);
  };
  const endProgress = () => progress?.stop();
  const removeRowsAbove = async (position: number) => {
    const whose = installationId === null ? '' : ' AND installation_id = {installation:String}';
    await deleteRows(database, rebuilt, {
      sql: `position > {position:UInt64}${whose}`,
      parameters: { position, installation: installationId ?? '' },
    });
  };
  const fold = createReplayFold({
    actors: counterStream.createActors(parts.deployment),
    fromSequence,
    throughSequence,
    only,
    onProgress,
  });
  const verifier = createStreamVerifier({ jsm, stream, clock: systemClock });
  const reader = { ...parts, verifier };
  const follower = createStreamFollower({
    stream,
    source: await createSource(reader, plan),
    jsm,
    verifier,
    fold,
    snapshots: rebuiltSnapshots,
    sinks: {
      writer,
      rejections: null,
      // A killed attempt has left rows above its last snapshot; nobody reads these tables yet.
      resumeAfter: (position) => removeRowsAbove(Math.max(position, fromSequence - 1)),
      removeAbove: (_, deleteSnapshots) => deleteSnapshots(),
    },
    // A stream that is recreated meanwhile ends the replay.
    checkStreams: async () => undefined,
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
    endProgress();
  }
  const { position, snapshotPosition, divergences } = follower.status();
  if (divergences > 0)
    throw new ReplayRefused(
      `${stream} is no longer the stream with which the replay began: run the command with --discard, then again`,
    );
  if (position < throughSequence) return false;
  const seconds = (systemClock.monotonicMs() - startedMs) / 1_000;
  const folded = throughSequence - from;
  parts.print(
    `${folded} messages folded and stored in ${seconds.toFixed(1)} s (${Math.round(folded / seconds)} per second)`,
  );
  if (snapshotPosition === throughSequence) return true;
  throw new ReplayRefused(
    `the end of the replay could not be saved (through ${snapshotPosition ?? 0} of ${throughSequence}): run the same command again`,
  );
}

/** Creates the source of the replayed messages: the stream, or ClickHouse's rows for messages that have left it. */
async function createSource(
  parts: ReplayOptions & { readonly verifier: StreamVerifier },
  { throughSequence }: ReplayPlan,
): Promise<MessageSource> {
  const { database, active } = parts;
  const oldestMs = createOldestRowMs(await readRowsTtlDays(database, active.readings), systemClock.nowMs)();
  return createMessageSource({
    ...parts,
    stream,
    clock: systemClock,
    through: throughSequence,
    readStored: createStoredReadings({ ...parts, tables: () => active, oldestRowMs: () => oldestMs }),
  });
}
