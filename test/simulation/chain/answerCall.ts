import { type Abi, decodeFunctionData, encodeFunctionResult, type Hex, toHex } from 'viem';
import { coreAbi, miningAbi, tokenAbi } from '../../../actors/chain/spans/contractAbis.ts';
import type { EconomyState } from './contracts/contractState.ts';
import { contracts } from './contracts/settings.ts';
import { chainId } from './deployment.ts';
import type { SealedBlock } from './sealBlock.ts';

/** A call of Ethereum's JSON-RPC interface. */
export interface RpcCall {
  readonly id: number;
  readonly method: string;
  readonly params?: readonly unknown[];
}

export type RpcAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } };

const refuse = (code: number, message: string): RpcAnswer => ({ error: { code, message } });

/** The answer of a node that has these blocks, listed by number. */
export function answerCall(blocks: readonly SealedBlock[], { method, params = [] }: RpcCall): RpcAnswer {
  const [first, second] = params;
  switch (method) {
    case 'eth_chainId':
      return { result: toHex(chainId) };
    case 'eth_blockNumber':
      return { result: toHex(blocks.length - 1) };
    case 'eth_getBlockByNumber': {
      const block = findBlock(blocks, first);
      if (block === null) return { result: null };
      const { header, transactions } = block;
      const listed = second === true ? transactions : transactions.map(({ hash }) => hash);
      return { result: { ...header, transactions: listed } };
    }
    case 'eth_getBlockReceipts':
      return { result: findBlock(blocks, first)?.receipts ?? null };
    case 'eth_getLogs':
      return { result: findLogs(blocks, first as LogFilter) };
    case 'eth_call': {
      const block = findBlock(blocks, second);
      if (block === null) return refuse(-32_000, 'header not found');
      return readContract(block.state, first as { to: Hex; data: Hex });
    }
    default:
      return refuse(-32_601, `the method ${method} does not exist`);
  }
}

function findBlock(blocks: readonly SealedBlock[], tag: unknown): SealedBlock | null {
  return (tag === 'latest' ? blocks.at(-1) : blocks[Number(tag)]) ?? null;
}

interface LogFilter {
  readonly address: Hex | readonly Hex[];
  readonly topics?: readonly (Hex | readonly Hex[] | null)[];
  readonly fromBlock: Hex;
  readonly toBlock: Hex;
}

function findLogs(blocks: readonly SealedBlock[], { address, topics = [], fromBlock, toBlock }: LogFilter) {
  const addresses = [address].flat();
  return blocks
    .slice(Number(fromBlock), Number(toBlock) + 1)
    .flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs))
    .filter((log) => addresses.includes(log.address))
    .filter((log) =>
      topics.every((one, at) => one === null || [one].flat().includes(log.topics[at] ?? '0x')),
    );
}

/** Answers calls of the contract functions that the service compares with its own state. */
function readContract({ core, mining }: EconomyState, { to, data }: { to: Hex; data: Hex }): RpcAnswer {
  const values: readonly (readonly [Hex, Abi, Readonly<Record<string, bigint | boolean>>])[] = [
    [contracts.core, coreAbi, { ...core }],
    [contracts.mining, miningAbi, { ...readNumbers(mining) }],
    [contracts.token, tokenAbi, { totalSupply: mining.totalMinted }],
  ];
  const found = values.find(([address]) => address === to);
  if (found === undefined) return refuse(-32_000, 'execution reverted');
  const [, abi, members] = found;
  const { functionName } = decodeFunctionData({ abi, data });
  const result = members[functionName];
  if (result === undefined) return refuse(-32_000, `the simulated contracts do not answer ${functionName}`);
  return { result: encodeFunctionResult({ abi, functionName, result }) };
}

function readNumbers(members: object): Record<string, bigint> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => typeof value === 'bigint'));
}
