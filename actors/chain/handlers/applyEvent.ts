import type { ChainEvent, ContractAddresses } from '../spans/chainEvent.ts';
import type { ChainState } from '../state/chainState.ts';
import { coreEventsShown } from '../state/coreState.ts';
import { collectionHandlers } from './collectionHandlers.ts';
import { coreHandlers } from './coreHandlers.ts';
import { handleEvent } from './eventHandlers.ts';
import { proxyAdminHandlers, timelockHandlers } from './governanceHandlers.ts';
import { miningHandlers } from './miningHandlers.ts';
import { tokenFactoryHandlers, tokenHandlers } from './tokenHandlers.ts';

/**
 * The state after one event of a deployment.
 *
 * @throws Error if the event cannot follow the state.
 */
export function applyEvent(state: ChainState, event: ChainEvent, contracts: ContractAddresses): ChainState {
  const before = { state, contracts };
  switch (event.contract) {
    case 'core':
      return withCoreEvent(handleEvent(coreHandlers, event, before), event);
    case 'proxyAdmin':
      return withCoreEvent(handleEvent(proxyAdminHandlers, event, before), event);
    case 'operatorTimelock':
      return withCoreEvent(handleEvent(timelockHandlers, event, before), event);
    case 'tokenFactory':
      return handleEvent(tokenFactoryHandlers, event, before);
    case 'mining':
      return handleEvent(miningHandlers, event, before);
    case 'token':
      return handleEvent(tokenHandlers, event, before);
    case 'collection':
      return handleEvent(collectionHandlers, event, before);
  }
}

/** Adds an event of the core or its governance to the list that core state shows. */
function withCoreEvent(state: ChainState, event: ChainEvent): ChainState {
  const { core } = state;
  const events = [event, ...core.events].slice(0, coreEventsShown);
  const source = event.contract === 'core' ? { eventName: event.name, source: event.source } : core.source;
  return { ...state, core: { ...core, events, source } };
}
