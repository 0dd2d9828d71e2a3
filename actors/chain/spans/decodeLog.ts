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
 * The event of a log; null for a log outside of the deployment.
 *
 * @throws Error if the log lacks arguments of its event.
 */
type LogDecoder = (block: ChainBlock, log: ChainLog) => ChainEvent | null;

export function createLogDecoder(contracts: ContractAddresses): LogDecoder {
  const byAddress = new Map<string, ReadonlyMap<string, KnownEvent>>(
    contractKinds.map((contract) => [contracts[contract], listKnownEvents(contract)]),
  );
  return (block, log) => {
    const known = byAddress.get(log.address)?.get(log.topics[0] ?? '');
    if (known === undefined) return null;
    const event = toChainEvent(known, block, log);
    // Any account may create a token with the factory.
    const isOther = event.contract === 'tokenFactory' && event.args.token !== contracts.token;
    return isOther ? null : event;
  };
}

/** An event of a contract with its parameters sorted in advance, since viem's `decodeEventLog` hashes the signature for each log. */
interface KnownEvent {
  readonly contract: ContractKind;
  readonly name: string;
  /** Parameters in topics. */
  readonly indexed: readonly NamedParameter[];
  /** Parameters in the data. */
  readonly others: readonly NamedParameter[];
}

type NamedParameter = AbiParameter & {
  readonly name: string;
  /** Reads its 32 bytes; null if viem decodes it. */
  readonly readWord: ((word: Hex) => unknown) | null;
};

const hexDigitsOfWord = 64;

function listKnownEvents(contract: ContractKind): ReadonlyMap<string, KnownEvent> {
  const known = new Map<string, KnownEvent>();
  for (const item of contractAbis[contract]) {
    if (item.type !== 'event') continue;
    const { name, inputs }: AbiEvent = item;
    const indexed = inputs.filter((input) => input.indexed === true).map(topicParameter);
    const others = inputs.filter((input) => input.indexed !== true).map(toNamedParameter);
    known.set(toEventSelector(item), { contract, name, indexed, others });
  }
  return known;
}

/** A topic holds only the hash of a value of variable size. */
function topicParameter(parameter: AbiParameter): NamedParameter {
  const { type } = parameter;
  const isHashed = type === 'string' || type === 'bytes' || type.startsWith('tuple') || type.endsWith(']');
  return toNamedParameter({ ...parameter, type: isHashed ? 'bytes32' : type });
}

function toNamedParameter(parameter: AbiParameter): NamedParameter {
  const { name } = parameter;
  if (name === undefined) throw new Error(`a parameter of type ${parameter.type} has no name`);
  return { ...parameter, name, readWord: findWordReader(parameter.type) };
}

/** Most parameters are such words. viem takes many times as long for them, and decodes numbers up to 48 bits to another type. */
function findWordReader(type: string): NamedParameter['readWord'] {
  if (type === 'address') return (word) => toAddress(`0x${word.slice(-40)}`);
  if (type === 'bytes32') return (word) => word;
  const bits = /^uint(\d+)$/.exec(type)?.[1];
  return Number(bits) > 48 ? BigInt : null;
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
  // The types are derived from the same parameters by which viem decoded `args`.
  return event as ChainEvent;
}

function assignValues(args: Record<string, unknown>, parameters: readonly NamedParameter[], data: Hex): void {
  if (parameters.length === 0) return;
  const areWords = parameters.every(({ readWord }) => readWord !== null);
  if (areWords && data.length >= 2 + parameters.length * hexDigitsOfWord) {
    let from = 2;
    for (const { name, readWord } of parameters) {
      args[name] = readWord?.(`0x${data.slice(from, from + hexDigitsOfWord)}`);
      from += hexDigitsOfWord;
    }
    return;
  }
  const values = decodeAbiParameters(parameters, data);
  for (const [index, { name, type }] of parameters.entries()) {
    const value = values[index];
    args[name] = type === 'address' ? toAddress(String(value)) : value;
  }
}

/**
 * Decodes arguments from truncated data. Values of a fixed size are complete, bytes are cut short, and a text becomes empty, since the
 * beginning of a text may be misleading.
 */
function assignTruncated(
  args: Record<string, unknown>,
  parameters: readonly NamedParameter[],
  data: Hex,
): void {
  const isVariable = ({ type }: NamedParameter) => type === 'string' || type === 'bytes';
  // A value of variable size is represented by its offset, where its length comes first.
  assignValues(
    args,
    parameters.map((parameter) =>
      isVariable(parameter) ? toNamedParameter({ ...parameter, type: 'uint256' }) : parameter,
    ),
    data,
  );
  for (const { name, type } of parameters.filter(isVariable)) {
    const firstByte = Number(args[name]) + 32;
    args[name] = type === 'string' ? '' : `0x${data.slice(2 + 2 * firstByte)}`;
  }
}
