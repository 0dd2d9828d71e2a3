import type { Database } from '../../../storage/database.ts';
import { deleteRows, type RowCondition } from '../../../storage/deleteRowsAbove.ts';
import { splitLines } from '../../../storage/foldSnapshot.ts';
import { attachRows, attachSnapshots, createEmpty } from '../../../storage/generations.ts';
import type { ReplayPlan } from '../../../storage/replayLog.ts';
import type { SnapshotStore } from '../../../storage/snapshots.ts';
import type { Tables } from '../../../storage/tables.ts';
import { ReplayRefused } from './replayPlan.ts';

export interface PrepareReplayOptions {
  readonly database: Database;
  readonly plan: ReplayPlan;
  readonly active: Tables;
  readonly rebuilt: Tables;
  readonly activeSnapshots: SnapshotStore;
  readonly rebuiltSnapshots: SnapshotStore;
}

/**
 * Creates the new tables and brings in what the replay leaves as it is: rows of earlier messages and of other
 * installations, and the snapshot that is folded from. May be killed anywhere and run again.
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
    await attachSnapshots(database, active, rebuilt, { stream: 'MINER_COUNTER', position: basePosition });
  if (installationId === null) return;
  const headers = await parts.activeSnapshots.list('MINER_COUNTER');
  const header = headers.find(({ position }) => position === throughSequence);
  const beside = header === undefined ? null : await parts.activeSnapshots.load(header);
  if (beside === null)
    throw new ReplayRefused(
      `the snapshot of ${throughSequence} is not there any more: run the command with --discard, then again`,
    );
  await parts.rebuiltSnapshots.save({ ...beside, stream: 'MINER_COUNTER beside' });
}

/** The others' state where a replay of one installation ends; null for a replay of all. */
export async function loadBeside({ plan, rebuiltSnapshots }: PrepareReplayOptions) {
  const { installationId } = plan;
  if (installationId === null) return null;
  const [header] = await rebuiltSnapshots.list('MINER_COUNTER beside');
  const beside = header === undefined ? null : await rebuiltSnapshots.load(header);
  if (beside === null)
    throw new ReplayRefused(
      'what this replay has kept is damaged: run the command with --discard, then again',
    );
  return { installationId, others: splitLines(beside) };
}
