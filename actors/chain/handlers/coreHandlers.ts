import { type ChainState, countSettlements, noteChanged } from '../state/chainState.ts';
import type { CoreConfiguration } from '../state/coreState.ts';
import type { Settlement } from '../state/settlements.ts';
import { type EventHandlers, ignoreEvent } from './eventHandlers.ts';
import { withGovernance } from './governanceHandlers.ts';
import { readImplementation } from './implementation.ts';

export const coreHandlers: EventHandlers<'core'> = {
  CoreConfigured: (state, { args }) => {
    const configuration = {
      streamId: args.streamId,
      genesisTimestamp: args.genesisTimestamp,
      roundDuration: args.roundDuration,
      maxWorkPerRound: args.maxWorkPerRound,
      maxRoundsPerBatch: args.maxRoundsPerBatch,
      initialWorkPerThousandBlocks: args.initialWorkPerThousandBlocks,
      targetBlocksPerActiveRound: args.targetBlocksPerActiveRound,
      difficultySmoothingRounds: args.difficultySmoothingRounds,
      blockUnitsPerBlock: args.blockUnitsPerBlock,
      guardian: args.guardian,
      reporter: args.reporter,
    };
    const workPerThousandBlocks = configuration.initialWorkPerThousandBlocks;
    return { ...state, core: { ...state.core, configuration, workPerThousandBlocks } };
  },
  GuardianChanged: (state, { args }) => withConfiguration(state, { guardian: args.guardian }),
  ReporterChanged: (state, { args }) => withConfiguration(state, { reporter: args.reporter }),
  VersionActivated: (state, event) => ({
    ...state,
    core: { ...state.core, implementation: readImplementation(event) },
  }),
  Paused: (state) => ({ ...state, core: { ...state.core, paused: true } }),
  Unpaused: (state) => ({ ...state, core: { ...state.core, paused: false } }),
  AdminChanged: (state, { args }) => withGovernance(state, { proxyAdminSlot: args.newAdmin }),
  RoundSettled: (state, { args }) => {
    const unprocessedRounds = state.unprocessedRounds.push({
      roundId: args.roundId,
      cumulativeWork: args.cumulativeWork,
      cumulativeBlockUnits: args.cumulativeBlockUnits,
    });
    return noteChanged({ ...state, unprocessedRounds }, `unprocessedRound ${args.roundId}`);
  },
  BatchSettled: (state, { args, source }) => {
    expectSame('settledThroughRound', state.core.settledThroughRound, args.previousSettledThroughRound);
    expectSame('cumulativeWork', state.core.cumulativeWork + args.workAdded, args.cumulativeWork);
    const settlement: Settlement = {
      source,
      previousSettledThroughRound: args.previousSettledThroughRound,
      settledThroughRound: args.settledThroughRound,
      activeRoundCount: args.activeRoundCount,
      workAdded: args.workAdded,
      cumulativeWork: args.cumulativeWork,
      cumulativeBlockUnits: args.cumulativeBlockUnits,
      previousCumulativeBlockUnits: state.core.cumulativeBlockUnits,
      mintedBaseUnits: 0n,
      position: state.position,
    };
    const core = {
      ...state.core,
      cumulativeWork: settlement.cumulativeWork,
      cumulativeBlockUnits: settlement.cumulativeBlockUnits,
      workPerThousandBlocks: args.workPerThousandBlocks,
      settledThroughRound: settlement.settledThroughRound,
      authorizationNonce: args.nonce + 1n,
    };
    const settled = { ...state, core, settlements: state.settlements.push(settlement) };
    return noteChanged(settled, `settlement ${countSettlements(state)}`);
  },
  Initialized: ignoreEvent,
  Upgraded: ignoreEvent,
};

function withConfiguration(
  state: ChainState,
  change: Partial<Pick<CoreConfiguration, 'guardian' | 'reporter'>>,
): ChainState {
  const { configuration } = state.core;
  if (configuration === null) throw new Error('the core changed its configuration before it had one');
  return { ...state, core: { ...state.core, configuration: { ...configuration, ...change } } };
}

/** What an event says of the state before it has to be so; otherwise an event before it is missing or there twice. */
function expectSame(name: string, expected: bigint, actual: bigint): void {
  if (expected !== actual) throw new Error(`${name} is ${expected} here, and ${actual} in the event`);
}
