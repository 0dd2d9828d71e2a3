import { describe, expect, it } from 'vitest';
import type { IsCounted } from '../../storage/runs/mergedRuns.ts';
import type { SnapshotStore } from '../../storage/snapshots/snapshots.ts';
import { createStateSaver } from '../../streams/pipeline/stateSaver.ts';
import type { StreamFold } from '../../streams/pipeline/streamFold.ts';
import { manualClock } from '../support/manualClock.ts';
import { silentLogger } from '../support/silentLogger.ts';

/** A saver whose saved states are recorded, and may fail. */
function startSaver() {
  const saved: string[] = [];
  const runs: string[] = [];
  const retentions: IsCounted[] = [];
  const settings = { isFailing: false };
  const snapshots: SnapshotStore = {
    save: async ({ position, run }, records, isCounted) => {
      if (settings.isFailing) throw new Error('the database is unavailable');
      // Later states would overtake this one.
      await new Promise((resolve) => setTimeout(resolve, position === 1 ? 5 : 0));
      saved.push(`${position}: ${[...records].map(({ value }) => value)}`);
      runs.push(run);
      retentions.push(isCounted);
      return 100 + position;
    },
    list: async () => [],
    read: () => {
      throw new Error('nothing is read');
    },
  };
  let captures = 0;
  const fold: StreamFold = {
    identity: { foldVersion: 1, configuration: '' },
    receive: () => {
      throw new Error('nothing is folded');
    },
    capture: () => [{ kind: 'capture', key: '', value: String(++captures) }],
    beginRestore: () => ({ add: () => undefined, complete: () => () => undefined }),
  };
  const clock = manualClock();
  const lineage = { run: 'first' };
  const isCounted: IsCounted = () => true;
  const saver = createStateSaver({
    stream: 'MINER_CHAIN',
    fold,
    snapshots,
    run: () => lineage.run,
    isCounted,
    clock,
    logger: silentLogger,
  });
  const captureAt = (position: number) => saver.capture({ streamCreated: 'now', position, digest: null });
  const saveAt = (position: number) => saver.save(captureAt(position));
  return { saved, runs, retentions, isCounted, lineage, settings, clock, saver, captureAt, saveAt };
}

describe('the saver of a state', () => {
  it('saves states in the order of their capture', async () => {
    const { saved, settings, captureAt, saver, saveAt } = startSaver();
    await Promise.all([captureAt(1), captureAt(2)].map(saver.save));
    settings.isFailing = true;
    await expect(saveAt(3)).rejects.toThrow('unavailable');
    settings.isFailing = false;
    await saveAt(4);
    expect(saved).toEqual(['1: 1', '2: 2', '4: 4']);
  });

  it('saves a state in the run of its rows', async () => {
    const { runs, retentions, isCounted, lineage, saveAt } = startSaver();
    await saveAt(1);
    lineage.run = 'second';
    await saveAt(2);
    expect([runs, retentions]).toEqual([
      ['first', 'second'],
      [isCounted, isCounted],
    ]);
  });

  it('shows position and bytes of the newest state, and failures', async () => {
    const { settings, saver, saveAt } = startSaver();
    saver.noteRestored(1);
    const statuses = [saver.status];
    for (const position of [2, 3]) {
      await saveAt(position);
      statuses.push(saver.status);
    }
    settings.isFailing = true;
    await expect(saveAt(4)).rejects.toThrow('unavailable');
    for (let failure = 0; failure < 2; failure++) saver.noteFailure(new Error('unavailable'));
    const failed = saver.status;
    settings.isFailing = false;
    await saveAt(5);
    const savedAt = (position: number, bytes: number | null, failures = 0) => ({
      snapshotPosition: position,
      snapshotBytes: bytes,
      snapshotFailures: failures,
    });
    expect([...statuses, failed, saver.status]).toEqual([
      savedAt(1, null),
      savedAt(2, 102),
      savedAt(3, 103),
      savedAt(3, 103, 2),
      savedAt(5, 105),
    ]);
  });
});
