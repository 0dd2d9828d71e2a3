import { type Abi, type AbiEvent, encodeAbiParameters, encodeEventTopics, type Hex } from 'viem';
import {
  type ContractAddresses,
  type ContractKind,
  contractAbis,
  contractKinds,
} from '../../../actors/chain/spans/chainEvent.ts';
import type { ChainLog, ChainSpanMessage } from '../../../actors/chain/spans/chainSpan.ts';
import type { StreamMessage } from '../../../actors/messages/streamMessage.ts';
import { type Address, type BlockHash, toAddress } from '../../../actors/schemas/hex.ts';
import { buildBlockHash, buildTransactionHash } from './hashes.ts';

export const writtenChainId = 31_337n;

/** Addresses of contracts that exist on no chain. */
export const writtenContracts = Object.fromEntries(
  contractKinds.map((kind, index) => [kind, toAddress(`0x${String(index + 1).repeat(40)}`)]),
) as unknown as ContractAddresses;

/** Options of a fold whose first span is block 1. */
export const writtenSettings = { chainId: writtenChainId, contracts: writtenContracts, deploymentBlock: 1n };

/** An event written by a test. */
export interface WrittenEvent {
  readonly contract: ContractKind;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export function buildEvent(
  contract: ContractKind,
  name: string,
  args: WrittenEvent['args'] = {},
): WrittenEvent {
  return { contract, name, args };
}

/** Some value of a type, for arguments that matter to no test. */
function fillArgument(type: string): unknown {
  if (type === 'address') return `0x${'a'.repeat(40)}`;
  if (type === 'string') return '';
  if (type.startsWith('bytes')) return `0x${'0'.repeat(2 * Number(type.slice('bytes'.length)))}`;
  return 0n;
}

/** The declaration of a contract's event. */
export function findEvent(contract: ContractKind, name: string): AbiEvent {
  const abi: Abi = contractAbis[contract];
  const event = abi.find((item) => item.type === 'event' && item.name === name);
  if (event?.type !== 'event') throw new Error(`${contract} has no event ${name}`);
  return event;
}

/** Builds the contract's log of an event. */
export function buildLog({ contract, name, args: given }: WrittenEvent, logIndex: number): ChainLog {
  const event = findEvent(contract, name);
  const args = Object.fromEntries(
    event.inputs.map((input) => [input.name, given[input.name as string] ?? fillArgument(input.type)]),
  );
  const others = event.inputs.filter(({ indexed }) => indexed !== true);
  return {
    address: writtenContracts[contract],
    topics: encodeEventTopics({ abi: [event], args } as never) as Hex[],
    data: encodeAbiParameters(
      others,
      others.map((input) => args[input.name as string]),
    ),
    transactionHash: buildTransactionHash(logIndex + 1),
    transactionIndex: 0,
    logIndex,
  };
}

interface WrittenBlock {
  readonly number: number;
  readonly events?: readonly WrittenEvent[];
  /** Number of earlier reorganizations. It changes the block's hash unless `branch` is given. */
  readonly fork?: number;
  /** Branch of the block, as part of its hash. */
  readonly branch?: number;
  /** Branch of the parent block. */
  readonly parentBranch?: number;
  readonly core?: Address;
}

export function buildHash(number: number, branch = 0): BlockHash {
  return buildBlockHash(`${branch.toString(16)}${number.toString(16).padStart(56, '0')}`);
}

/** A span of one block. */
export function buildSpan(block: WrittenBlock): ChainSpanMessage {
  const { number, events = [], fork = 0, branch = fork, core = writtenContracts.core } = block;
  const { parentBranch = branch } = block;
  const hash = buildHash(number, branch);
  const timestamp = new Date(Date.UTC(2026, 0, 1) + number * 12_000).toISOString();
  const listed = { number: String(number), hash, timestamp, logs: events.map(buildLog) };
  return {
    core,
    fork,
    fromBlock: String(number),
    toBlock: String(number),
    parentHash: buildHash(number - 1, parentBranch),
    hash,
    timestamp,
    blocks: events.length === 0 ? [] : [listed],
  };
}

export function buildSpanMessage(span: object, seq: number, chainId = writtenChainId): StreamMessage {
  return {
    seq,
    subject: `miner.chain.${chainId}.span`,
    data: Buffer.from(JSON.stringify(span)),
    timestampNanos: BigInt(seq) * 10n ** 9n,
  };
}
