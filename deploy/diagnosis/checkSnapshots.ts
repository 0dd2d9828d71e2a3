import type { JetStreamManager } from '@nats-io/jetstream';
import type { Clock } from '../../actors/clock.ts';
import { type FoldIdentity, isOfFold } from '../../actors/folds/foldIdentity.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import { readErrorMessage } from '../../actors/readErrorMessage.ts';
import { isRefusal, readSnapshotRecords } from '../../storage/snapshots/readSnapshotRecords.ts';
import type { SnapshotStore } from '../../storage/snapshots/snapshots.ts';
import type { StoredSnapshotHeader } from '../../storage/tables/foldSnapshot.ts';
import { createStreamVerifier, StreamDiverged } from '../../streams/jetstream/proofs/streamVerifier.ts';
import { askUntilProven } from '../../streams/jetstream/proofs/suspicions.ts';
import { type Finding, failed, ok, skipped, warned } from './finding.ts';

interface CheckSnapshotsOptions {
  readonly jsm: JetStreamManager;
  readonly snapshots: SnapshotStore;
  readonly folds: readonly (readonly [InputStreamName, FoldIdentity])[];
  /** Finds out which snapshots of a fold have rows that count; a start restores no other. */
  readonly findCounted: (
    stream: InputStreamName,
    identity: FoldIdentity,
  ) => Promise<(header: StoredSnapshotHeader) => boolean>;
  readonly clock: Pick<Clock, 'nowMs' | 'bootMs'>;
}

/** Checks for each stream whether a start finds a complete snapshot that agrees with the stream and is continued by it. */
export async function checkSnapshots(options: CheckSnapshotsOptions): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [stream, identity] of options.folds) findings.push(await checkStream(options, stream, identity));
  return findings;
}

async function checkStream(
  { jsm, snapshots, findCounted, clock }: CheckSnapshotsOptions,
  stream: InputStreamName,
  identity: FoldIdentity,
): Promise<Finding> {
  const check = `snapshots ${stream}`;
  const all = await snapshots.list(stream);
  const ofFold = all.filter((header) => isOfFold(header, identity));
  const usable = ofFold.filter(await findCounted(stream, identity));
  const [newest] = usable;
  const { state } = await jsm.streams.info(stream);
  if (newest === undefined) {
    const other =
      all.length === 0
        ? 'there is none'
        : ofFold.length === 0
          ? `${all.length} are of another version or deployment`
          : `what ${ofFold.length} were made from counts no longer`;
    if (state.last_seq === 0) return skipped(check, other);
    if (state.first_seq <= 1)
      return ok(check, `${other}: the next start folds the stream from its beginning`);
    return failed(
      check,
      `${other}, and the stream begins at ${state.first_seq}`,
      'run the version and deployment that the snapshots are of, or restore a backup (deploy/RUNBOOK.md, "Restore")',
    );
  }
  try {
    const { verify } = createStreamVerifier({ jsm, stream, clock });
    await askUntilProven(() => verify(newest));
    const records = await countRecords(snapshots, newest);
    const ageSeconds = Math.round((clock.nowMs() - newest.takenAtMs) / 1000);
    const detail = `${usable.length} can be restored; the newest, at message ${newest.position}, was taken ${ageSeconds} s ago and holds ${records} records`;
    if (newest.position + 1 >= state.first_seq) return ok(check, detail);
    return warned(
      check,
      `${detail}; the stream begins later, at ${state.first_seq}`,
      'start an ingest process: it takes what ClickHouse holds of the messages in between, and saves a snapshot',
    );
  } catch (error) {
    if (error instanceof StreamDiverged)
      return failed(
        check,
        error.message,
        'start the service: it restores an older one that agrees, and logs the reason',
      );
    if (!isRefusal(error)) throw error;
    const detail = `the newest, at message ${newest.position}, is damaged (${readErrorMessage(error)})`;
    return failed(check, detail, 'start the service: it restores an older one, and saves a new one');
  }
}

async function countRecords(snapshots: SnapshotStore, header: StoredSnapshotHeader): Promise<number> {
  let count = 0;
  for await (const records of readSnapshotRecords(snapshots, header)) count += records.length;
  return count;
}
