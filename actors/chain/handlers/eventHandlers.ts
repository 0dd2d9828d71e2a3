import type {
  ContractAddresses,
  ContractEvent,
  ContractKind,
  EventName,
  EventOf,
} from '../spans/chainEvent.ts';
import type { ChainState } from '../state/chainState.ts';
import type { Implementation } from '../state/coreState.ts';

/**
 * The state after one event of a contract.
 *
 * @throws Error if the event cannot follow the state.
 */
type EventHandler<Contract extends ContractKind, Name extends EventName<Contract>> = (
  state: ChainState,
  event: EventOf<Contract, Name>,
  contracts: ContractAddresses,
) => ChainState;

/** One handler for each event of a contract's ABI; {@link ignoreEvent} for events that no view reads. */
export type EventHandlers<Contract extends ContractKind> = {
  readonly [Name in EventName<Contract>]: EventHandler<Contract, Name>;
};

export function ignoreEvent(state: ChainState): ChainState {
  return state;
}

export function handleEvent<Contract extends ContractKind, Name extends EventName<Contract>>(
  handlers: EventHandlers<Contract>,
  event: ContractEvent<Contract, Name>,
  { state, contracts }: { readonly state: ChainState; readonly contracts: ContractAddresses },
): ChainState {
  return handlers[event.name](state, event, contracts);
}

/** The code that runs behind a contract's proxy from this event on. */
export function readImplementation({ args }: EventOf<'core' | 'mining', 'VersionActivated'>): Implementation {
  return {
    codeAddress: args.implementation,
    codeVersion: args.version,
    storageLayoutDigest: args.storageLayoutDigest,
    runtimeHash: args.runtimeHash,
  };
}
