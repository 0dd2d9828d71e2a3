import type { Abi, AbiParameterToPrimitiveType } from 'viem';
import type { EventSource } from '../../events/eventSchemas.ts';
import type { Address } from '../../schemas/hex.ts';
import {
  collectionAbi,
  coreAbi,
  miningAbi,
  proxyAbi,
  proxyAdminAbi,
  timelockAbi,
  tokenAbi,
  tokenFactoryAbi,
} from './contractAbis.ts';

export const contractKinds = [
  'core',
  'proxyAdmin',
  'operatorTimelock',
  'tokenFactory',
  'mining',
  'token',
  'collection',
] as const;
export type ContractKind = (typeof contractKinds)[number];

/** ABI of each contract. Events of a proxy and of the implementation behind it have the same address. */
export const contractAbis = {
  core: [...coreAbi, ...proxyAbi],
  proxyAdmin: proxyAdminAbi,
  operatorTimelock: timelockAbi,
  tokenFactory: tokenFactoryAbi,
  mining: [...miningAbi, ...proxyAbi],
  token: tokenAbi,
  collection: collectionAbi,
} as const satisfies Record<ContractKind, Abi>;

export type ContractAddresses = Readonly<Record<ContractKind, Address>>;

type AbiEvents<Contract extends ContractKind> = Extract<
  (typeof contractAbis)[Contract][number],
  { readonly type: 'event' }
>;

export type EventName<Contract extends ContractKind> = AbiEvents<Contract>['name'];

/** One member for each parameter of an event, as viem decodes it, except that addresses are in lower case. */
type EventArguments<Contract extends ContractKind, Name extends EventName<Contract>> = {
  readonly [Parameter in Extract<
    AbiEvents<Contract>,
    { readonly name: Name }
  >['inputs'][number] as Parameter['name']]: Parameter['type'] extends 'address'
    ? Address
    : AbiParameterToPrimitiveType<Parameter>;
};

export interface EventOf<Contract extends ContractKind, Name extends EventName<Contract>> {
  readonly contract: Contract;
  readonly address: Address;
  readonly name: Name;
  readonly args: EventArguments<Contract, Name>;
  readonly source: EventSource;
}

export type ContractEvent<
  Contract extends ContractKind,
  Name extends EventName<Contract> = EventName<Contract>,
> = { [One in Name]: EventOf<Contract, One> }[Name];

/** A decoded log of a deployment. Contract and name determine its arguments. */
export type ChainEvent = { [Contract in ContractKind]: ContractEvent<Contract> }[ContractKind];
