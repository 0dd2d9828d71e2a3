// Smaller limits, so that events of weeks happen within minutes.

const limits = [
  ['actors/chain/fold/spanFoldState.ts', 'retainedStatesMax = 600;', '40'],
  ['actors/chain/rows/activityRows.ts', 'ownerEventsRetained = ownerPageDefault;', '3'],
  ['actors/chain/spans/chainSpan.ts', 'spanBytesMax = 256 * 1024;', '24 * 1024'],
  ['actors/events/eventWindow.ts', 'windowMax = 2_000;', '60'],
  ['actors/events/eventWindow.ts', 'windowMin = 1_000;', '30'],
  ['actors/events/eventWindow.ts', 'evictedMin = 500;', '15'],
  ['storage/runs/mergedRuns.ts', 'runsMax = 16;', '4'],
  ['storage/reading/recentReadings.ts', 'readingsRetained = 20_000;', '300'],
  ['storage/runs/retiredRuns.ts', 'retainedMs = 30 * dayMs;', '120_000'],
  ['storage/runs/retiredRuns.ts', 'fillingMs = 2 * dayMs;', '90_000'],
  ['storage/runs/retiredRuns.ts', 'readMs = 3_600_000;', '65_000'],
  ['streams/work/streamWork.ts', 'dropMs = 3_600_000;', '5_000'],
];

/** @type {import('./buildSimulator.mjs').Replacement[]} */
export const smallLimits = limits.map(([file, from, value]) => ({
  file,
  from,
  to: from.replace(/= .*/, `= ${value};`),
}));
