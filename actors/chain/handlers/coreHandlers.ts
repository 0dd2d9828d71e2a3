import type { ChainState } from '../state/chainState.ts';
import type { CoreConfiguration } from '../state/coreState.ts';
import type { Settlement } from '../state/settlements.ts';
import { type EventHandlers, ignoreEvent, readImplementation } from './eventHandlers.ts';
import { withGovernance } from './governanceHandlers.ts';

export const coreHandlers: EventHandlers<'core'> = {
  CoreConfigured: (state, { args }) => {
    const { operator: _operator, ...configuration } = args;
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
    const { work: _work, ...round } = args;
    return { ...state, unprocessedRounds: state.unprocessedRounds.push(round) };
  },
  BatchSettled: (state, { args, source }) => {
    expectSame('settledThroughRound', state.core.settledThroughRound, args.previousSettledThroughRound);
    expectSame('cumulativeWork', state.core.cumulativeWork + args.workAdded, args.cumulativeWork);
    const { workPerThousandBlocks, nonce, ...batch } = args;
    const settlement: Settlement = {
      source,
      ...batch,
      previousCumulativeBlockUnits: state.core.cumulativeBlockUnits,
      mintedBaseUnits: 0n,
    };
    const core = {
      ...state.core,
      cumulativeWork: settlement.cumulativeWork,
      cumulativeBlockUnits: settlement.cumulativeBlockUnits,
      workPerThousandBlocks,
      settledThroughRound: settlement.settledThroughRound,
      authorizationNonce: nonce + 1n,
    };
    return { ...state, core, settlements: state.settlements.push(settlement) };
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

/** Checks an event's claim about the previous state. A difference means that an earlier event is missing or duplicated. */
function expectSame(name: string, expected: bigint, actual: bigint): void {
  if (expected !== actual) throw new Error(`${name} is ${expected} here, and ${actual} in the event`);
}
