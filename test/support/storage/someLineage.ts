import { openEnd } from '../../../storage/runs/lineages.ts';
import type { StoredSnapshotHeader } from '../../../storage/tables/foldSnapshot.ts';

/** A history of the chain with one run, of some process. */
export const someLineage = {
  stream: 'MINER_CHAIN',
  epoch: 1,
  holder: '',
  step: 1,
  cause: 'counts',
  reason: 'begun',
  runs: [{ run: 'run', through: openEnd }],
  foldVersion: 1,
  configuration: 'ours',
  streamCreated: 'now',
  position: 0,
  continuedRun: '',
} as const;

/** The header of a stored snapshot; a test names the members that matter to it. */
export const someSnapshot = (
  position: number,
  change: Partial<StoredSnapshotHeader> = {},
): StoredSnapshotHeader => ({
  ...{ stream: 'MINER_COUNTER', run: '', foldVersion: 1, configuration: 'ours', streamCreated: 'now' },
  ...{ position, digest: null, takenAtMs: 0, snapshot: `at ${position}`, checksum: '' },
  ...change,
});
