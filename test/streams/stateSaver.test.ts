import { describe, expect, it } from 'vitest';
import type { StateCapture } from '../../actors/foldRecord.ts';
import type { SnapshotChain, SnapshotStore } from '../../storage/snapshots.ts';
import { createStateSaver } from '../../streams/pipeline/stateSaver.ts';
import type { StreamFold } from '../../streams/pipeline/streamFold.ts';
import { manualClock } from '../support/manualClock.ts';
import { silentLogger } from '../support/silentLogger.ts';

/** A saver whose requests are recorded, and a fold whose captures the test chooses. */
function startSaver() {
  const saved: string[] = [];
  const settings = { isFailing: false, canExtend: true, knowsChanges: true };
  const save = async (what: string, part: number): Promise<SnapshotChain> => {
    if (settings.isFailing) throw new Error('the database is unavailable');
    saved.push(what);
    return {
      snapshot: 'one',
      table: 'snapshots',
      part,
      ordinal: 1,
      baseBytes: 100,
      incrementBytes: 7 * part,
    };
  };
  const snapshots: SnapshotStore = {
    saveBase: ({ position }) => save(`whole ${position}`, 0),
    saveIncrement: ({ part }, { position }) => save(`increment ${position}`, part + 1),
    canExtend: () => settings.canExtend,
    list: async () => [],
    read: () => {
      throw new Error('nothing is read');
    },
    deleteAbove: async () => undefined,
  };
  const capture = (): StateCapture => ({ all: () => [], changes: settings.knowsChanges ? () => [] : null });
  const fold: StreamFold = {
    identity: { foldVersion: 1, configuration: '' },
    receive: () => {
      throw new Error('nothing is folded');
    },
    capture,
    beginRestore: () => ({ add: () => undefined, complete: () => () => undefined }),
  };
  const clock = manualClock();
  const saver = createStateSaver({
    stream: 'MINER_CHAIN',
    fold,
    snapshots,
    clock,
    logger: silentLogger,
  });
  const captureAt = (position: number) => saver.capture({ streamCreated: 'now', position, digest: null });
  const saveAt = (position: number) => saver.save(captureAt(position));
  return { saved, settings, clock, saver, captureAt, saveAt };
}

describe('the saver of a state', () => {
  it('saves a complete state after one that could not be saved, and after one that was not requested', async () => {
    const { saved, settings, captureAt, saveAt } = startSaver();
    await saveAt(1);
    settings.isFailing = true;
    await expect(saveAt(2)).rejects.toThrow('unavailable');
    settings.isFailing = false;
    await saveAt(3);
    await Promise.all([saveAt(4), saveAt(5)]);
    captureAt(6);
    await saveAt(7);
    expect(saved).toEqual(['whole 1', 'whole 3', 'increment 4', 'increment 5', 'whole 7']);
  });

  it('shows the position, time and bytes of the newest saved state, and counts what could not be saved', async () => {
    const { settings, clock, saver, saveAt } = startSaver();
    saver.reset({ snapshotPosition: 1, snapshotTakenAtMs: 5 });
    const statuses = [saver.status];
    for (const position of [2, 3]) {
      clock.advance(1_000);
      await saveAt(position);
      statuses.push(saver.status);
    }
    settings.isFailing = true;
    await expect(saveAt(4)).rejects.toThrow('unavailable');
    for (let failure = 0; failure < 2; failure++) saver.noteFailure(new Error('unavailable'));
    const savedAt = (position: number, takenAtMs: number, bytes: number | null, failures = 0) => ({
      snapshotPosition: position,
      snapshotTakenAtMs: takenAtMs,
      snapshotBytes: bytes,
      snapshotFailures: failures,
    });
    const nowMs = clock.nowMs();
    expect([...statuses, saver.status]).toEqual([
      savedAt(1, 5, null),
      savedAt(2, nowMs - 1_000, 100),
      savedAt(3, nowMs, 107),
      savedAt(3, nowMs, 107, 2),
    ]);
  });

  it('saves a complete state after a restoration, after large increments, and if the changes are not known', async () => {
    const { saved, settings, saver, saveAt } = startSaver();
    await saveAt(1);
    saver.reset({});
    await saveAt(2);
    settings.canExtend = false;
    await saveAt(3);
    Object.assign(settings, { canExtend: true, knowsChanges: false });
    await saveAt(4);
    settings.knowsChanges = true;
    await saveAt(5);
    expect(saved).toEqual(['whole 1', 'whole 2', 'whole 3', 'whole 4', 'increment 5']);
  });
});
