import type { Hex } from 'viem';
import { latestTimeMs } from '../../schemas/durations.ts';
import type { ContractAddresses, EventOf } from '../spans/chainEvent.ts';
import { latestChanges, proposerRole } from '../spans/chainReads.ts';
import type { ChainState } from '../state/chainState.ts';
import { type Governance, withProposers } from '../state/coreState.ts';
import { type EventHandlers, ignoreEvent } from './eventHandlers.ts';

/** Call data of `upgradeAndCall(address,address,bytes)` up to the address in its first argument. */
const upgradeCall = `0x9623609d${'0'.repeat(24)}`;

export const proxyAdminHandlers: EventHandlers<'proxyAdmin'> = {
  OwnershipTransferred: (state, { args }) => withGovernance(state, { proxyAdminOwner: args.newOwner }),
};

export const timelockHandlers: EventHandlers<'operatorTimelock'> = {
  RoleGranted: (state, event) => changeProposer(state, event, true),
  RoleRevoked: (state, event) => changeProposer(state, event, false),
  CallScheduled: scheduleCall,
  CallExecuted: (state, { args }) => withOperation(state, args.id, 'executed'),
  Cancelled: (state, { args }) => withOperation(state, args.id, 'cancelled'),
  CallSalt: ignoreEvent,
  MinDelayChange: ignoreEvent,
  RoleAdminChanged: ignoreEvent,
};

function changeProposer(
  state: ChainState,
  { args }: EventOf<'operatorTimelock', 'RoleGranted' | 'RoleRevoked'>,
  isGranted: boolean,
): ChainState {
  if (args.role !== proposerRole) return state;
  const change = { account: args.account, isGranted };
  const proposers = latestChanges([...state.governance.proposers, change]);
  return { ...state, governance: withProposers(state.governance, proposers) };
}

/** Notes an operation that calls the proxy or its admin. A batch logs each of its calls, in order. */
function scheduleCall(
  state: ChainState,
  { args, source }: EventOf<'operatorTimelock', 'CallScheduled'>,
  contracts: ContractAddresses,
): ChainState {
  const target = args.target;
  if (target !== contracts.core && target !== contracts.proxyAdmin) return state;
  const isUpgrade =
    target === contracts.proxyAdmin && args.data.startsWith(`${upgradeCall}${contracts.core.slice(2)}`);
  const id = args.id;
  const { operation } = state.governance;
  // A cancelled operation can be scheduled again as a new one with the same ID.
  const isSameBatch = operation?.id === id && operation.state === 'scheduled';
  return withGovernance(state, {
    operation: {
      id,
      kind: isUpgrade || (isSameBatch && operation.kind === 'upgrade') ? 'upgrade' : 'call',
      state: 'scheduled',
      // A delay has 256 bits, so the time may exceed what a Date can hold.
      readyAtMs: Math.min(latestTimeMs, source.blockTimestampMs + Number(args.delay) * 1000),
    },
  });
}

export function withGovernance(state: ChainState, change: Partial<Governance>): ChainState {
  return { ...state, governance: { ...state.governance, ...change } };
}

function withOperation(state: ChainState, id: Hex, operationState: 'executed' | 'cancelled'): ChainState {
  const { operation } = state.governance;
  if (operation === null || operation.id !== id) return state;
  return withGovernance(state, { operation: { ...operation, state: operationState } });
}
