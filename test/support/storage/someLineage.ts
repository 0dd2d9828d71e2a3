import { openEnd } from '../../../storage/runs/lineages.ts';

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
