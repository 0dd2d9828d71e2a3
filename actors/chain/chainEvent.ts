import { type Abi, type AbiEvent, decodeEventLog, type Hex, toEventSelector } from 'viem';
import type { ChainBlock, ChainLog } from '../../streams/chainSpan.ts';
import {
  collectionAbi,
  coreAbi,
  miningAbi,
  proxyAbi,
  proxyAdminAbi,
  timelockAbi,
  tokenAbi,
  tokenFactoryAbi,
} from '../../streams/contractAbis.ts';

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
  const byAddress = new Map<string, { kind: ContractKind; events: ReadonlyMap<string, AbiEvent> }>();
  for (const [kind, address] of Object.entries(contracts) as [ContractKind, string][]) {
    const events = abis[kind].filter((item): item is AbiEvent => item.type === 'event');
    byAddress.set(address, { kind, events: new Map(events.map((event) => [toEventSelector(event), event])) });
  }
  return (block, log) => {
    const contract = byAddress.get(log.address);
    const event = contract?.events.get(log.topics[0] ?? '');
    if (contract === undefined || event === undefined) return null;
    const topics = log.topics as [Hex, ...Hex[]];
    const { args } = decodeEventLog({ abi: [event], topics, data: log.data as Hex });
    return {
      contract: contract.kind,
      address: log.address,
      name: event.name,
      args: (args ?? {}) as Readonly<Record<string, unknown>>,
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
