// Smaller limits, so that events of weeks happen within minutes.

/** @type {import('./buildSimulator.mjs').Replacement[]} */
export const smallLimits = [
  {
    file: 'actors/chain/fold/spanFoldState.ts',
    from: 'export const retainedStatesMax = 600;',
    to: 'export const retainedStatesMax = 40;',
  },
  {
    file: 'actors/chain/rows/activityRows.ts',
    from: 'export const ownerEventsRetained = ownerPageDefault;',
    to: 'export const ownerEventsRetained = 3;',
  },
  {
    file: 'actors/chain/spans/chainSpan.ts',
    from: 'export const spanBytesMax = 256 * 1024;',
    to: 'export const spanBytesMax = 24 * 1024;',
  },
  { file: 'actors/events/eventWindow.ts', from: 'const windowMax = 2_000;', to: 'const windowMax = 60;' },
  { file: 'actors/events/eventWindow.ts', from: 'const windowMin = 1_000;', to: 'const windowMin = 30;' },
  { file: 'actors/events/eventWindow.ts', from: 'const evictedMin = 500;', to: 'const evictedMin = 15;' },
  { file: 'storage/runs/mergedRuns.ts', from: 'export const runsMax = 16;', to: 'export const runsMax = 4;' },
  {
    file: 'storage/reading/recentReadings.ts',
    from: 'export const readingsRetained = 20_000;',
    to: 'export const readingsRetained = 300;',
  },
  { file: 'storage/runs/retiredRuns.ts', from: 'retainedMs = 30 * dayMs;', to: 'retainedMs = 120_000;' },
  { file: 'storage/runs/retiredRuns.ts', from: 'fillingMs = 2 * dayMs;', to: 'fillingMs = 90_000;' },
  { file: 'storage/runs/retiredRuns.ts', from: 'readMs = 3_600_000;', to: 'readMs = 65_000;' },
  { file: 'streams/work/streamWork.ts', from: 'const dropMs = 3_600_000;', to: 'const dropMs = 5_000;' },
];
