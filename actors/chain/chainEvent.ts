import type { Abi, AbiEvent, AbiParameter, Hex } from 'viem';
import { decodeAbiParameters, toEventSelector } from 'viem/utils';
import type { ChainBlock, ChainLog } from './chainSpan.ts';
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

/** Addresses of a deployment's contracts, in lower case. */
export interface ContractAddresses {
  readonly core: string;
  readonly proxyAdmin: string;
  readonly operatorTimelock: string;
  readonly tokenFactory: string;
  readonly mining: string;
  readonly token: string;
  readonly collection: string;
}

export type ContractKind = keyof ContractAddresses;

/** What each contract may log; a proxy's own events are logged at the address of what it stands before. */
const abis: Record<ContractKind, Abi> = {
  core: [...coreAbi, ...proxyAbi],
  proxyAdmin: proxyAdminAbi,
  operatorTimelock: timelockAbi,
  tokenFactory: tokenFactoryAbi,
  mining: [...miningAbi, ...proxyAbi],
  token: tokenAbi,
  collection: collectionAbi,
};

/** Where an event is on the chain. */
export interface EventSource {
  readonly blockNumber: bigint;
  readonly blockHash: string;
  readonly blockTimestampMs: number;
  readonly transactionHash: string;
  readonly transactionIndex: number;
  readonly logIndex: number;
}

/** A decoded log. `args` has one member for each parameter of the event. */
export interface ChainEvent {
  readonly contract: ContractKind;
  readonly address: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly source: EventSource;
}

export type EventDecoder = (block: ChainBlock, log: ChainLog) => ChainEvent | null;

/** Decodes logs of a deployment; null for a log that is none of its events. */
export function createEventDecoder(contracts: ContractAddresses): EventDecoder {
  const byAddress = new Map<string, { kind: ContractKind; events: ReadonlyMap<string, KnownEvent> }>();
  for (const [kind, address] of Object.entries(contracts) as [ContractKind, string][]) {
    const events = abis[kind].filter((item): item is AbiEvent => item.type === 'event');
    const known = events.map((event) => [toEventSelector(event), knownEventOf(event)] as const);
    byAddress.set(address, { kind, events: new Map(known) });
  }
  return (block, log) => {
    const contract = byAddress.get(log.address);
    const event = contract?.events.get(log.topics[0] ?? '');
    if (contract === undefined || event === undefined) return null;
    const args = argumentsOf(event, log);
    // Anybody may have the factory create a token.
    if (contract.kind === 'tokenFactory' && String(args.token).toLowerCase() !== contracts.token) return null;
    return {
      contract: contract.kind,
      address: log.address,
      name: event.name,
      args,
      source: {
        blockNumber: block.number,
        blockHash: block.hash,
        blockTimestampMs: block.timestampMs,
        transactionHash: log.transactionHash,
        transactionIndex: log.transactionIndex,
        logIndex: log.logIndex,
      },
    };
  };
}

/** An event with its parameters as logs hold them, sorted out once: viem's `decodeEventLog` hashes the signature for each log. */
interface KnownEvent {
  readonly name: string;
  /** One topic each. */
  readonly indexed: readonly AbiParameter[];
  /** In the data. */
  readonly others: readonly AbiParameter[];
}

function knownEventOf({ name, inputs }: AbiEvent): KnownEvent {
  return {
    name,
    indexed: inputs.filter(({ indexed }) => indexed === true),
    others: inputs.filter(({ indexed }) => indexed !== true),
  };
}

/** @throws Error when the log is not one of the event. */
function argumentsOf({ name, indexed, others }: KnownEvent, log: ChainLog): ChainEvent['args'] {
  const args: Record<string, unknown> = {};
  for (const [index, parameter] of indexed.entries()) {
    const topic = log.topics[index + 1];
    if (topic === undefined) throw new Error(`a log of ${name} has no topic for ${parameter.name}`);
    args[parameter.name as string] = isHashed(parameter)
      ? topic
      : decodeAbiParameters([parameter], topic as Hex)[0];
  }
  if (others.length > 0) {
    const values = decodeAbiParameters(others, log.data as Hex) as readonly unknown[];
    for (const [index, parameter] of others.entries()) args[parameter.name as string] = values[index];
  }
  return args;
}

/** Whether a topic holds the hash of a value, since the value itself may not fit. */
function isHashed({ type }: AbiParameter): boolean {
  return type === 'string' || type === 'bytes' || type.startsWith('tuple') || type.endsWith(']');
}
