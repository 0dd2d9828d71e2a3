import { setImmediate as nextTurn } from 'node:timers/promises';
import { createMPT } from '@ethereumjs/mpt';
import { type Input, RLP } from '@ethereumjs/rlp';
import type { Hash, Hex } from 'viem';
import { bytesToHex, concatBytes, hexToBytes, keccak256, toHex } from 'viem/utils';
import { z } from 'zod';
import { describeMisfit } from '../../actors/messages/decodeMessage.ts';
import { type CompiledSchema, compileSchema } from '../../actors/schemas/compileSchema.ts';
import {
  type Address,
  type BlockHash,
  type TransactionHash,
  toAddress,
  toBlockHash,
  toLowercase,
  toTransactionHash,
} from '../../actors/schemas/hex.ts';
import { listKeys } from '../../actors/schemas/listKeys.ts';
import { ProviderInconsistent } from './providerInconsistent.ts';

/**
 * Proofs that a node's answers about a block match the block's hash. The header hashes to it, and contains the roots of the tries of
 * transactions and receipts. Objects follow Ethereum's JSON-RPC interface (execution-apis). Encodings follow the yellow paper
 * (appendices B, D and 4.3), and EIP-2718 for typed transactions and receipts.
 */

/** Values that are hashed before other work of the process has its turn: a node can answer with a hundred thousand. */
const valuesAtOnce = 64;

const data = z.custom<Hex>(
  (value) => typeof value === 'string' && /^0x(?:[0-9a-fA-F]{2})*$/.test(value),
  'expected hexadecimal bytes',
);
const expectBytes = (count: number) =>
  data.refine((value) => value.length === 2 + 2 * count, `expected ${count} bytes`);
const quantity = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,64}$/, 'expected a hexadecimal quantity')
  .transform(BigInt);
const address = expectBytes(20);
const word = expectBytes(32);

/** Members of a header in the order in which they are hashed; each fork appends its own. */
const header = z.object({
  parentHash: word,
  sha3Uncles: word,
  miner: address,
  stateRoot: word,
  transactionsRoot: word,
  receiptsRoot: word,
  logsBloom: expectBytes(256),
  difficulty: quantity,
  number: quantity,
  gasLimit: quantity,
  gasUsed: quantity,
  timestamp: quantity,
  extraData: data,
  mixHash: word,
  nonce: expectBytes(8),
  baseFeePerGas: quantity.nullish(),
  withdrawalsRoot: word.nullish(),
  blobGasUsed: quantity.nullish(),
  excessBlobGas: quantity.nullish(),
  parentBeaconBlockRoot: word.nullish(),
  requestsHash: word.nullish(),
  blockAccessListHash: word.nullish(),
  slotNumber: quantity.nullish(),
});
const headerMembers = listKeys(header.shape);
const hashedHeader = compileSchema(header.extend({ hash: word }));
/** Members of a block in JSON that are not hashed with its header. */
const otherMembers = ['hash', 'size', 'totalDifficulty', 'transactions', 'uncles', 'withdrawals'];

/** The members of a proven block header that this program uses. */
export interface BlockHeader {
  readonly number: bigint;
  readonly hash: BlockHash;
  readonly parentHash: BlockHash;
  readonly timestampMs: number;
  readonly logsBloom: Hex;
  readonly receiptsRoot: Hash;
  readonly transactionsRoot: Hash;
}

/**
 * Reads a block header from a node's answer.
 *
 * @throws ProviderInconsistent when the members do not hash to the hash in the same answer.
 */
export function proveHeader(answer: unknown): BlockHeader {
  const parsed = parse(hashedHeader, answer, 'a block header');
  const members = headerMembers.flatMap((name): Input[] => {
    const value = parsed[name];
    if (value === null || value === undefined) return [];
    return [typeof value === 'bigint' ? value : hexToBytes(value)];
  });
  const hash = keccak256(RLP.encode(members));
  if (hash !== parsed.hash.toLowerCase()) {
    throw new ProviderInconsistent(
      `the header of block ${parsed.number} hashes to ${hash}, but the node names ${parsed.hash}: ${explainHash(answer)}`,
    );
  }
  return {
    number: parsed.number,
    hash: toBlockHash(hash),
    parentHash: toBlockHash(parsed.parentHash),
    timestampMs: Number(parsed.timestamp) * 1000,
    logsBloom: parsed.logsBloom,
    receiptsRoot: toLowercase(parsed.receiptsRoot),
    transactionsRoot: toLowercase(parsed.transactionsRoot),
  };
}

/** Explains a wrong hash: a fork of the chain adds members to the header, which have to be hashed too. */
function explainHash(answer: unknown): string {
  const known = new Set<string>([...headerMembers, ...otherMembers]);
  const unknown = Object.keys(answer as object).filter((name) => !known.has(name));
  if (unknown.length === 0) return 'it was altered';
  return `this version does not know its members ${unknown.join(', ')}; after a fork of the chain, upgrade this program`;
}

/** @throws ProviderInconsistent when a header does not name the block before it as its parent. */
export function expectParent(of: BlockHeader, before: Pick<BlockHeader, 'number' | 'hash'>): void {
  if (of.parentHash === before.hash) return;
  throw new ProviderInconsistent(`block ${of.number} does not name block ${before.number} as its parent`);
}

const receipt = z.object({
  type: quantity.nullish(),
  status: quantity.nullish(),
  /** Root of the state, which blocks before Byzantium have instead of the status. Some nodes name it next to the status, or as `0x`. */
  root: data.nullish(),
  cumulativeGasUsed: quantity,
  logsBloom: expectBytes(256),
  logs: z.array(z.object({ address, topics: z.array(word).max(4), data })),
});
const blockReceipts = compileSchema(z.array(receipt));

/** A log of a receipt, with its position in its block. */
export interface ProvenLog {
  readonly address: Address;
  readonly topics: Hash[];
  readonly data: Hex;
  readonly transactionIndex: number;
  readonly logIndex: number;
}

/**
 * All logs of a block, in their order, from the receipts of all its transactions.
 *
 * @throws ProviderInconsistent when the receipts do not have the header's root.
 */
export async function proveLogs(of: BlockHeader, answer: unknown): Promise<ProvenLog[]> {
  const receipts = parse(blockReceipts, answer, `the receipts of block ${of.number}`);
  await expectRoot(of, 'receipts', receipts, ({ type, status, root, cumulativeGasUsed, logsBloom, logs }) =>
    encodeTyped(type ?? 0n, [
      status ?? hexToBytes(root ?? '0x'),
      cumulativeGasUsed,
      hexToBytes(logsBloom),
      logs.map((log) => [
        hexToBytes(log.address),
        log.topics.map((topic) => hexToBytes(topic)),
        hexToBytes(log.data),
      ]),
    ]),
  );
  let logIndex = 0;
  return receipts.flatMap(({ logs }, transactionIndex) =>
    logs.map((log) => ({
      address: toAddress(log.address),
      topics: log.topics.map(toLowercase),
      data: toLowercase(log.data),
      transactionIndex,
      logIndex: logIndex++,
    })),
  );
}

const accessList = z.array(z.object({ address, storageKeys: z.array(word) }));
const authorization = z.object({
  chainId: quantity,
  address,
  nonce: quantity,
  yParity: quantity,
  r: quantity,
  s: quantity,
});
const transaction = z.object({
  type: quantity.nullish(),
  chainId: quantity.nullish(),
  nonce: quantity,
  gasPrice: quantity.nullish(),
  maxPriorityFeePerGas: quantity.nullish(),
  maxFeePerGas: quantity.nullish(),
  gas: quantity,
  to: address.nullish(),
  value: quantity,
  input: data,
  accessList: accessList.nullish(),
  maxFeePerBlobGas: quantity.nullish(),
  blobVersionedHashes: z.array(word).nullish(),
  authorizationList: z.array(authorization).nullish(),
  v: quantity.nullish(),
  yParity: quantity.nullish(),
  r: quantity,
  s: quantity,
});
type Transaction = z.infer<typeof transaction>;
const wholeBlock = compileSchema(z.object({ transactions: z.array(transaction) }));

/**
 * The hashes of a block's transactions, in their order, which receipts do not contain.
 *
 * @throws ProviderInconsistent when the transactions do not have the header's root.
 */
export async function proveTransactionHashes(of: BlockHeader, answer: unknown): Promise<TransactionHash[]> {
  const { transactions } = parse(wholeBlock, answer, `the transactions of block ${of.number}`);
  const hashes: TransactionHash[] = [];
  await expectRoot(of, 'transactions', transactions, (one) => {
    const encoded = encodeTyped(one.type ?? 0n, listMembers(of, one));
    hashes.push(toTransactionHash(keccak256(encoded)));
    return encoded;
  });
  return hashes;
}

/** Lists the members in the order that the transaction's type defines: EIP-155, 2930, 1559, 4844 and 7702. */
function listMembers(of: BlockHeader, one: Transaction): Input[] {
  const [chainId, nonce] = [one.chainId ?? 0n, one.nonce];
  const to = one.to == null ? new Uint8Array() : hexToBytes(one.to);
  const call = [one.gas, to, one.value, hexToBytes(one.input)];
  const access = (one.accessList ?? []).map((entry) => [
    hexToBytes(entry.address),
    entry.storageKeys.map((key) => hexToBytes(key)),
  ]);
  const fees = [one.maxPriorityFeePerGas ?? 0n, one.maxFeePerGas ?? 0n];
  const signature = [one.yParity ?? one.v ?? 0n, one.r, one.s];
  switch (one.type ?? 0n) {
    case 0n:
      return [nonce, one.gasPrice ?? 0n, ...call, one.v ?? 0n, one.r, one.s];
    case 1n:
      return [chainId, nonce, one.gasPrice ?? 0n, ...call, access, ...signature];
    case 2n:
      return [chainId, nonce, ...fees, ...call, access, ...signature];
    case 3n: {
      const blobs = (one.blobVersionedHashes ?? []).map((hash) => hexToBytes(hash));
      return [chainId, nonce, ...fees, ...call, access, one.maxFeePerBlobGas ?? 0n, blobs, ...signature];
    }
    case 4n: {
      const authorizations = (one.authorizationList ?? []).map((each) => [
        each.chainId,
        hexToBytes(each.address),
        each.nonce,
        each.yParity,
        each.r,
        each.s,
      ]);
      return [chainId, nonce, ...fees, ...call, access, authorizations, ...signature];
    }
    default:
      throw new ProviderInconsistent(
        `block ${of.number} has a transaction of type ${one.type}, which this version does not know; after a fork of the chain, upgrade this program`,
      );
  }
}

/** A legacy transaction or receipt is encoded as its list alone; any other is prefixed with its type (EIP-2718). */
function encodeTyped(type: bigint, members: Input[]): Uint8Array {
  const list = RLP.encode(members);
  return type === 0n ? list : concatBytes([hexToBytes(toHex(type, { size: 1 })), list]);
}

async function expectRoot<Value>(
  of: BlockHeader,
  what: 'receipts' | 'transactions',
  values: readonly Value[],
  encode: (value: Value) => Uint8Array,
) {
  const root = of[`${what}Root`];
  const trie = await createMPT();
  for (const [index, value] of values.entries()) {
    if (index % valuesAtOnce === 0) await nextTurn();
    await trie.put(RLP.encode(index), encode(value));
  }
  const computed = bytesToHex(trie.root());
  if (computed === root) return;
  throw new ProviderInconsistent(
    `the ${values.length} ${what} of block ${of.number} have the root ${computed}, but its header has ${root}`,
  );
}

/** Costs no more than reading the answer, even if it holds millions of misfits. */
function parse<Schema extends z.ZodType>(
  { schema, fits, read }: CompiledSchema<Schema>,
  answer: unknown,
  what: string,
): z.infer<Schema> {
  if (fits(answer)) return read(answer);
  throw new ProviderInconsistent(`${what}: ${describeMisfit(schema, answer)}`);
}
