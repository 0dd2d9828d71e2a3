import type { AbiEvent, AbiParameter, Hex } from 'viem';
import { concat, decodeAbiParameters, toEventSelector } from 'viem/utils';
import { toAddress } from '../../schemas/hex.ts';
import {
  type ChainEvent,
  type ContractAddresses,
  type ContractKind,
  contractAbis,
  contractKinds,
} from './chainEvent.ts';
import type { ChainBlock, ChainLog } from './chainSpan.ts';

/**
 * The event of a log; null for a log that is not of the deployment.
 *
 * @throws Error when the log does not hold the arguments of its event.
 */
export type LogDecoder = (block: ChainBlock, log: ChainLog) => ChainEvent | null;

export function createLogDecoder(contracts: ContractAddresses): LogDecoder {
  const byAddress = new Map<string, ReadonlyMap<string, KnownEvent>>(
    contractKinds.map((contract) => [contracts[contract], listKnownEvents(contract)]),
  );
  return (block, log) => {
    const known = byAddress.get(log.address)?.get(log.topics[0] ?? '');
    if (known === undefined) return null;
    const event = toChainEvent(known, block, log);
    // Anybody may have the factory create a token.
    const isOther = event.contract === 'tokenFactory' && event.args.token !== contracts.token;
    return isOther ? null : event;
  };
}

/** An event of a contract, with its parameters sorted once: viem's `decodeEventLog` hashes the signature for each log. */
interface KnownEvent {
  readonly contract: ContractKind;
  readonly name: string;
  /** One topic each. */
  readonly indexed: readonly NamedParameter[];
  /** In the data. */
  readonly others: readonly NamedParameter[];
}

type NamedParameter = AbiParameter & { readonly name: string };

function listKnownEvents(contract: ContractKind): ReadonlyMap<string, KnownEvent> {
  const known = new Map<string, KnownEvent>();
  for (const item of contractAbis[contract]) {
    if (item.type !== 'event') continue;
    const { name, inputs }: AbiEvent = item;
    const indexed = inputs.filter((input) => input.indexed === true).map(topicParameter);
    const others = inputs.filter((input) => input.indexed !== true).map(requireName);
    known.set(toEventSelector(item), { contract, name, indexed, others });
  }
  return known;
}

/** A topic holds the hash of a value that may not fit. */
function topicParameter(parameter: AbiParameter): NamedParameter {
  const { type } = parameter;
  const isHashed = type === 'string' || type === 'bytes' || type.startsWith('tuple') || type.endsWith(']');
  const { name } = requireName(parameter);
  return { name, type: isHashed ? 'bytes32' : type };
}

function requireName(parameter: AbiParameter): NamedParameter {
  const { name } = parameter;
  if (name === undefined) throw new Error(`a parameter of type ${parameter.type} has no name`);
  return { ...parameter, name };
}

function toChainEvent(
  { contract, name, indexed, others }: KnownEvent,
  block: ChainBlock,
  log: ChainLog,
): ChainEvent {
  const args: Record<string, unknown> = {};
  const topics = log.topics.slice(1, 1 + indexed.length);
  const missing = indexed[topics.length];
  if (missing !== undefined) throw new Error(`a log of ${name} has no topic for ${missing.name}`);
  assignValues(args, indexed, concat(topics));
  if (log.truncated === undefined) assignValues(args, others, log.data);
  else assignTruncated(args, others, log.data);
  const event = {
    contract,
    address: log.address,
    name,
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
  // The one place where values get their types: `args` are what viem decoded by the parameters that the types are made of.
  return event as ChainEvent;
}

function assignValues(args: Record<string, unknown>, parameters: readonly NamedParameter[], data: Hex): void {
  if (parameters.length === 0) return;
  const values = decodeAbiParameters(parameters, data);
  for (const [index, { name, type }] of parameters.entries()) {
    const value = values[index];
    args[name] = type === 'address' ? toAddress(String(value)) : value;
  }
}

/**
 * The arguments of data that is only the beginning of what the contract logged. Those of a fixed size are complete, bytes are as many as are
 * there, and a text is empty, since the beginning of a text says something else.
 */
function assignTruncated(
  args: Record<string, unknown>,
  parameters: readonly NamedParameter[],
  data: Hex,
): void {
  const isVariable = ({ type }: NamedParameter) => type === 'string' || type === 'bytes';
  // In the place of a value of variable size stands its offset, where its length comes first.
  assignValues(
    args,
    parameters.map((parameter) => (isVariable(parameter) ? { ...parameter, type: 'uint256' } : parameter)),
    data,
  );
  for (const { name, type } of parameters.filter(isVariable)) {
    const firstByte = Number(args[name]) + 32;
    args[name] = type === 'string' ? '' : `0x${data.slice(2 + 2 * firstByte)}`;
  }
}
