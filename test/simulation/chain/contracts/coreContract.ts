import { adjustDifficulty } from '../../../reference/workToBlocks.ts';
import { type EconomyState, expect, type Transaction } from './contractState.ts';
import { economySettings, guardian } from './settings.ts';

/** `SettlementCore.sol`: the rules of a settlement, and its logs. */

export interface Batch {
  readonly through: bigint;
  /** Ascending; rounds without work are left out. */
  readonly active: readonly { readonly roundId: bigint; readonly workUnits: bigint }[];
}

/** The round that holds a time; 0 before the genesis. */
export function findRound({ genesis }: EconomyState, timestamp: bigint): bigint {
  return timestamp < genesis ? 0n : (timestamp - genesis) / economySettings.roundSeconds + 1n;
}

export function settle({ state, timestamp, emit }: Transaction, batch: Batch): void {
  const { core, mining } = state;
  const { through, active } = batch;
  const previous = core.settledThroughRound;
  expect(!core.paused, 'EnforcedPause');
  expect(through > previous, 'RoundsOutOfOrder');
  expect(through < findRound(state, timestamp), 'RoundNotEnded');
  expect(BigInt(active.length) <= economySettings.maxRoundsPerBatch, 'TooManyActiveRounds');
  let last = previous;
  for (const { roundId, workUnits: work } of active) {
    expect(roundId > last && roundId <= through, 'RoundsOutOfOrder');
    expect(work > 0n && work <= economySettings.maxWorkPerRound, 'IneligibleWork');
    last = roundId;
  }
  let workAdded = 0n;
  for (const { roundId, workUnits: work } of active) {
    workAdded += work;
    core.cumulativeWork += work;
    core.cumulativeBlockUnits +=
      (work * economySettings.blockUnitsPerBlock * 1_000n) / core.workPerThousandBlocks;
    const { cumulativeWork, cumulativeBlockUnits } = core;
    mining.unminted = [...mining.unminted, { roundId, cumulativeWork, cumulativeBlockUnits }];
    emit('core', 'RoundSettled', { roundId, work, cumulativeWork, cumulativeBlockUnits });
  }
  core.settledThroughRound = through;
  const nonce = core.authorizationNonce++;
  const activeRounds = BigInt(active.length);
  core.workPerThousandBlocks = adjustDifficulty(
    core.workPerThousandBlocks,
    { workAdded, activeRounds },
    economySettings,
  );
  emit('core', 'BatchSettled', {
    previousSettledThroughRound: previous,
    settledThroughRound: through,
    activeRoundCount: activeRounds,
    workAdded,
    cumulativeWork: core.cumulativeWork,
    cumulativeBlockUnits: core.cumulativeBlockUnits,
    workPerThousandBlocks: core.workPerThousandBlocks,
    nonce,
  });
}

export function pauseCore({ state: { core }, emit }: Transaction): void {
  expect(!core.paused, 'EnforcedPause');
  core.paused = true;
  emit('core', 'Paused', { account: guardian });
}

export function unpauseCore({ state: { core }, emit }: Transaction): void {
  expect(core.paused, 'ExpectedPause');
  core.paused = false;
  emit('core', 'Unpaused', { account: guardian });
}
