import type { FoldRecord } from '../../../actors/foldRecord.ts';
import type { Database, RowCondition } from '../../../storage/database.ts';
import { deleteRows } from '../../../storage/deleteRowsAbove.ts';
import { attachRows, attachSnapshots, createEmpty } from '../../../storage/generations.ts';
import { isRefusal, readSnapshotRecords } from '../../../storage/readSnapshotRecords.ts';
import type { SnapshotStore } from '../../../storage/snapshots.ts';
import type { StoredSnapshotHeader } from '../../../storage/tables/foldSnapshot.ts';
import type { ReplayPlan } from '../../../storage/tables/replays.ts';
import type { Tables } from '../../../storage/tables.ts';
import type { ReplayedInstallation } from './replayFold.ts';
import { ReplayRefused } from './replayPlan.ts';

export interface PrepareReplayOptions {
  readonly database: Database;
  readonly plan: ReplayPlan;
  readonly active: Tables;
  readonly rebuilt: Tables;
  readonly activeSnapshots: SnapshotStore;
  readonly rebuiltSnapshots: SnapshotStore;
  readonly publicInstallationId: string;
}

/**
 * Creates the new tables and copies everything that the replay leaves unchanged: rows of earlier messages and of other
 * installations, and the snapshot it starts from. May be killed anywhere and run again.
 */
export async function prepareReplay(parts: PrepareReplayOptions): Promise<void> {
  const { database, plan, active, rebuilt } = parts;
  const { fromSequence, throughSequence, basePosition, installationId } = plan;
  await createEmpty(database, rebuilt);
  if (fromSequence > 1 || installationId !== null) await attachRows(database, active, rebuilt);
  const isRebuilt: RowCondition =
    installationId === null
      ? { sql: 'position >= {from:UInt64}', parameters: { from: fromSequence } }
      : {
          sql: '(position >= {from:UInt64} AND installation_id = {installation:String}) OR position > {through:UInt64}',
          parameters: { from: fromSequence, installation: installationId, through: throughSequence },
        };
  await deleteRows(database, rebuilt, isRebuilt);
  if (basePosition !== null)
    await attachSnapshots(database, {
      from: active,
      to: rebuilt,
      stream: 'MINER_COUNTER',
      position: basePosition,
    });
  if (installationId === null) return;
  const headers = await parts.activeSnapshots.list('MINER_COUNTER');
  const header = headers.find(({ position }) => position === throughSequence);
  const others = header === undefined ? null : await loadRecords(parts.activeSnapshots, header);
  if (header === undefined || others === null)
    throw new ReplayRefused(
      `the snapshot at ${throughSequence} no longer exists: run the command with --discard, then again`,
    );
  await parts.rebuiltSnapshots.save({ ...header, stream: 'MINER_COUNTER beside' }, others);
}

/** Loads the other installations' state at the end of a replay of one installation; null for a replay of all. */
export async function loadOthers({
  plan,
  rebuiltSnapshots,
  publicInstallationId,
}: PrepareReplayOptions): Promise<ReplayedInstallation | null> {
  const { installationId } = plan;
  if (installationId === null) return null;
  const [header] = await rebuiltSnapshots.list('MINER_COUNTER beside');
  const others = header === undefined ? null : await loadRecords(rebuiltSnapshots, header);
  if (others === null)
    throw new ReplayRefused(
      'the saved state of this replay is damaged: run the command with --discard, then again',
    );
  return {
    installationId,
    isPublic: installationId === publicInstallationId,
    others,
  };
}

/** Loads the records of a snapshot; null if the snapshot is refused. */
async function loadRecords(
  snapshots: SnapshotStore,
  header: StoredSnapshotHeader,
): Promise<readonly FoldRecord[] | null> {
  const loaded: FoldRecord[] = [];
  try {
    for await (const records of readSnapshotRecords(snapshots, header))
      for (const record of records) loaded.push(record);
    return loaded;
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  }
}
