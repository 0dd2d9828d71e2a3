import { deleteRows } from '../../../storage/deleteRowsAbove.ts';
import { createOldestRowMs, readRowsTtlDays } from '../../../storage/rowsTtl.ts';
import type { ReplayPlan } from '../../../storage/tables/replays.ts';
import { counterStream } from '../../../streams/counter/counterStream.ts';
import { createStoredReadings } from '../../../streams/counter/storedReadings.ts';
import { foldInto } from '../../../streams/follower/foldInto.ts';
import { createMessageSource, type MessageSource } from '../../../streams/jetstream/source/messageSource.ts';
import { createStreamVerifier, type StreamVerifier } from '../../../streams/jetstream/sourceVerification.ts';
import { createProgress, type Progress } from '../../process/progress.ts';
import { systemClock } from '../../process/systemClock.ts';

import { loadOthers, type PrepareReplayOptions } from './prepareReplay.ts';
import { createReplayFold } from './replayFold.ts';
import type { ReplayOptions } from './replayOptions.ts';
import { ReplayRefused } from './replayPlan.ts';

const stream = 'MINER_COUNTER';

/** Folds the planned messages. False if it was stopped before the end; then the folded state is saved. */
export async function foldReplay(parts: ReplayOptions, preparation: PrepareReplayOptions): Promise<boolean> {
  const { database, signal } = parts;
  const { plan, rebuilt, rebuiltSnapshots } = preparation;
  const { fromSequence, throughSequence, installationId } = plan;
  const only = await loadOthers(preparation);
  // The stop may have come while this module was loaded.
  if (signal.aborted) return false;
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
  const verifier = createStreamVerifier({ ...parts, stream, clock: systemClock });
  const reader = { ...parts, verifier };
  const startedMs = systemClock.monotonicMs();
  const { position, snapshotPosition, divergences } = await foldInto({
    ...reader,
    stream,
    source: await createSource(reader, plan),
    fold,
    tables: rebuilt,
    snapshots: rebuiltSnapshots,
    hasRows: true,
    removeRowsAbove: (above) => removeRowsAbove(Math.max(above, fromSequence - 1)),
    clock: systemClock,
  }).finally(endProgress);
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
