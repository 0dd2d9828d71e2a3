import { createMPT } from '@ethereumjs/mpt';
import { RLP } from '@ethereumjs/rlp';
import { bytesToHex, concatBytes, type Hex, hexToBytes, keccak256, serializeTransaction, toHex } from 'viem';
import type { ChainLog } from '../../../actors/chain/spans/chainSpan.ts';
import {
  type TransactionHash,
  toTransactionHash,
  zeroAddress,
  zeroHash,
} from '../../../actors/schemas/hex.ts';
import { buildLog, type WrittenEvent } from '../../support/chain/writtenSpans.ts';
import type { EconomyState } from './contracts/contractState.ts';
import { contracts, operator } from './contracts/settings.ts';
import { chainId } from './deployment.ts';
import type { Action } from './drawAction.ts';
import { computeLogsBloom } from './plainLogsBloom.ts';

/** A sent transaction. It stays the same in every block that includes it. */
export interface SentTransaction {
  readonly nonce: bigint;
  readonly act: Action;
}

/** A transaction with its result. */
export interface RunTransaction extends SentTransaction {
  readonly events: readonly WrittenEvent[];
  readonly isReverted: boolean;
}

/** An event with its place on the chain. */
interface LoggedEvent extends WrittenEvent {
  readonly transactionHash: TransactionHash;
  readonly transactionIndex: number;
  readonly logIndex: number;
}

/** A block with the node's answers about it, and the contracts' state after it. */
export interface SealedBlock {
  readonly number: bigint;
  readonly hash: Hex;
  readonly timestamp: bigint;
  /** Without transactions. */
  readonly header: Readonly<Record<string, unknown>>;
  readonly transactions: readonly Readonly<Record<string, unknown>>[];
  readonly receipts: readonly RpcReceipt[];
  readonly events: readonly LoggedEvent[];
  /** The same as logs. */
  readonly logs: readonly ChainLog[];
  readonly sent: readonly SentTransaction[];
  readonly state: EconomyState;
}

export interface RpcReceipt {
  readonly transactionHash: Hex;
  readonly logs: readonly (Pick<ChainLog, 'address' | 'topics' | 'data'> &
    Readonly<Record<string, unknown>>)[];
  readonly [member: string]: unknown;
}

const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';
const noUncles = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347';
const gasOfTransaction = 21_000n;

interface BlockContents {
  readonly number: bigint;
  readonly parentHash: Hex;
  readonly timestamp: bigint;
  readonly transactions: readonly RunTransaction[];
  readonly state: EconomyState;
  /** Distinguishes blocks with the same contents. */
  readonly salt: bigint;
  /** Whether the header has a member that the service does not know. */
  readonly isUnknownFork: boolean;
}

/** Hashes a block as Ethereum does: transactions and receipts into their tries, and the header with their roots. */
export async function sealBlock(contents: BlockContents): Promise<SealedBlock> {
  const { number, parentHash, timestamp, state, salt, isUnknownFork } = contents;
  const sent = contents.transactions.map(buildTransaction);
  let logIndex = 0;
  const logged = sent.map(({ hash, run }, transactionIndex) =>
    run.events.map((event) => ({ ...event, transactionHash: hash, transactionIndex, logIndex: logIndex++ })),
  );
  const encodedLogs = logged.map((events) =>
    events.map(({ contract, name, args, ...place }) => ({
      ...buildLog({ contract, name, args }, place.logIndex),
      ...place,
    })),
  );
  const blooms = encodedLogs.map(computeLogsBloom);
  const encodedReceipts = sent.map(({ run }, index) =>
    concatBytes([
      hexToBytes('0x02'),
      RLP.encode([
        run.isReverted ? 0n : 1n,
        gasOfTransaction * BigInt(index + 1),
        blooms[index] as Uint8Array,
        (encodedLogs[index] ?? []).map(({ address, topics, data }) => [
          hexToBytes(address),
          topics.map((topic) => hexToBytes(topic as Hex)),
          hexToBytes(data as Hex),
        ]),
      ]),
    ]),
  );
  const header = {
    parentHash,
    sha3Uncles: noUncles,
    miner: zeroAddress,
    stateRoot: keccak256(toHex(salt, { size: 32 })),
    transactionsRoot: await hashTrie(sent.map(({ serialized }) => hexToBytes(serialized))),
    receiptsRoot: await hashTrie(encodedReceipts),
    logsBloom: bytesToHex(computeLogsBloom(encodedLogs.flat())),
    difficulty: 0n,
    number,
    gasLimit: 30_000_000n,
    gasUsed: gasOfTransaction * BigInt(sent.length),
    timestamp,
    extraData: '0x' as Hex,
    mixHash: zeroHash,
    nonce: '0x0000000000000000' as Hex,
    baseFeePerGas: 7n,
    withdrawalsRoot: emptyRoot,
    blobGasUsed: 0n,
    excessBlobGas: 0n,
    parentBeaconBlockRoot: zeroHash,
    ...(isUnknownFork && { unknownRoot: emptyRoot }),
  };
  const hash = keccak256(
    RLP.encode(
      Object.values(header).map((value) => (typeof value === 'bigint' ? value : hexToBytes(value as Hex))),
    ),
  );
  const place = { blockHash: hash, blockNumber: toHex(number) };
  return {
    number,
    hash,
    timestamp,
    state,
    events: logged.flat(),
    logs: encodedLogs.flat(),
    sent: contents.transactions,
    header: { ...mapQuantities(header), hash, size: '0x220', uncles: [], withdrawals: [] },
    transactions: sent.map(({ members, hash: transactionHash }, index) => ({
      ...members,
      ...place,
      hash: transactionHash,
      transactionIndex: toHex(index),
      from: operator,
    })),
    receipts: sent.map(({ run, hash: transactionHash }, index) => ({
      ...place,
      type: '0x2',
      status: run.isReverted ? '0x0' : '0x1',
      transactionHash,
      transactionIndex: toHex(index),
      cumulativeGasUsed: toHex(gasOfTransaction * BigInt(index + 1)),
      gasUsed: toHex(gasOfTransaction),
      logsBloom: bytesToHex(blooms[index] as Uint8Array),
      contractAddress: null,
      logs: (encodedLogs[index] ?? []).map((log) => ({
        ...place,
        ...log,
        transactionIndex: toHex(index),
        logIndex: toHex(log.logIndex),
        removed: false,
      })),
    })),
  };
}

/** Builds a call of a contract. Its effect is only in its logs. */
function buildTransaction(run: RunTransaction) {
  const { nonce } = run;
  const fees = { gas: 8_000_000n, value: 0n, maxFeePerGas: 10n, maxPriorityFeePerGas: 1n };
  const to = contracts[run.events[0]?.contract ?? 'collection'];
  const data = toHex(`call ${nonce}`);
  const signature = { r: toHex(nonce + 1n), s: toHex(nonce + 2n), yParity: 0 };
  const serialized = serializeTransaction(
    { type: 'eip1559', chainId: Number(chainId), nonce: Number(nonce), to, data, ...fees },
    signature,
  );
  const members = {
    type: '0x2',
    chainId: toHex(chainId),
    nonce: toHex(nonce),
    to,
    input: data,
    ...mapQuantities(fees),
    accessList: [],
    ...signature,
    v: '0x0',
    yParity: '0x0',
  };
  return { run, serialized, hash: toTransactionHash(keccak256(serialized)), members };
}

async function hashTrie(values: readonly Uint8Array[]): Promise<Hex> {
  if (values.length === 0) return emptyRoot;
  const trie = await createMPT();
  for (const [index, value] of values.entries()) await trie.put(RLP.encode(index), value);
  return bytesToHex(trie.root());
}

/** Integers as JSON-RPC writes them. */
function mapQuantities(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, typeof value === 'bigint' ? toHex(value) : value]),
  );
}
