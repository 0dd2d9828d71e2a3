import { createMPT } from '@ethereumjs/mpt';
import { RLP } from '@ethereumjs/rlp';
import {
  bytesToHex,
  createTestClient,
  type Hex,
  hexToBytes,
  http,
  keccak256,
  numberToHex,
  parseGwei,
  parseTransaction,
  publicActions,
  walletActions,
} from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startAnvil } from '../../deploy/local/localAnvil.ts';
import { localChain } from '../../deploy/local/localChainClient.ts';
import { proveHeader, proveLogs, proveTransactionHashes } from '../../streams/indexer/blockProof.ts';
import { ProviderInconsistent } from '../../streams/indexer/providerInconsistent.ts';
import { buildBlockHash } from '../support/chain/hashes.ts';
import { temporaryDirectory } from '../support/processes/lifetime.ts';
import { silentLogger } from '../support/silentLogger.ts';

type Members = Record<string, unknown>;
type Block = Members & { hash: Hex; transactions: Members[] };
type Receipt = Members & { logs: (Members & { topics: Hex[]; data: Hex })[] };

/** Writes two logs at each call, with one topic and without: LOG1(0, 32, 7) and LOG0(0, 0). */
const loggingCode = '0x600c600c600039600c6000f3600760206000a160006000a0';

async function startChain(hardfork: string, dir: string | null = null) {
  const anvil = await startAnvil({ genesisTimestamp: 1_700_000_000, dir, hardfork, logger: silentLogger });
  onTestFinished(() => anvil.stop());
  const account = mnemonicToAccount('test test test test test test test test test test test junk');
  const client = createTestClient({
    mode: 'anvil',
    chain: localChain,
    account,
    transport: http(anvil.url, { retryCount: 0 }),
    cacheTime: 0,
  })
    .extend(publicActions)
    .extend(walletActions);
  const request = async <Result>(method: string, params: unknown[]) =>
    (await client.request({ method, params } as never)) as Result;
  const readBlock = async (number: number, withTransactions: boolean) =>
    await request<Block>('eth_getBlockByNumber', [`0x${number.toString(16)}`, withTransactions]);
  const readReceipts = async (number: number) =>
    await request<Receipt[]>('eth_getBlockReceipts', [`0x${number.toString(16)}`]);
  return { anvil, client, account, readBlock, readReceipts };
}

/** A block with a logging transaction of each type that the rules allow, and a node's answers about it. */
async function filledBlock(hardfork: string, types: readonly string[], dir: string | null = null) {
  const chain = await startChain(hardfork, dir);
  const { client, account } = chain;
  await client.setBalance({ address: account.address, value: 10n ** 20n });
  const gas = 200_000n;
  const price = parseGwei('5');
  const fees = { maxFeePerGas: price, maxPriorityFeePerGas: 1n };
  const created = await client.sendTransaction({ type: 'legacy', data: loggingCode, gas, gasPrice: price });
  await client.mine({ blocks: 1 });
  const { contractAddress } = await client.getTransactionReceipt({ hash: created });
  const to = contractAddress as Hex;
  const accessList = [{ address: to, storageKeys: [`0x${'0'.repeat(63)}1` as Hex] }];
  const sent: Record<string, () => Promise<Hex>> = {
    legacy: () => client.sendTransaction({ type: 'legacy', to, gas, gasPrice: price, value: 0n }),
    eip2930: () => client.sendTransaction({ type: 'eip2930', to, gas, gasPrice: price, accessList }),
    eip1559: () => client.sendTransaction({ type: 'eip1559', to, gas, ...fees, accessList, data: '0x1234' }),
    reverted: () => client.sendTransaction({ type: 'legacy', to, gas: 22_000n, gasPrice: price }),
    eip7702: async () => {
      const authorization = await client.signAuthorization({
        account,
        contractAddress: to,
        executor: 'self',
      });
      return client.sendTransaction({
        type: 'eip7702',
        to,
        gas,
        ...fees,
        authorizationList: [authorization],
      });
    },
  };
  for (const type of types) await sent[type]?.();
  await client.mine({ blocks: 1 });
  await client.mine({ blocks: 1 });
  return chain;
}

const legacy = ['legacy', 'legacy', 'reverted'];
const forks: readonly (readonly [hardfork: string, types: readonly string[]])[] = [
  ['frontier', ['legacy', 'legacy']],
  ['berlin', [...legacy, 'eip2930']],
  ['london', [...legacy, 'eip2930', 'eip1559']],
  ['cancun', [...legacy, 'eip2930', 'eip1559', ...Array.from({ length: 140 }, () => 'eip1559')]],
  ['prague', [...legacy, 'eip2930', 'eip1559', 'eip7702']],
  ['osaka', [...legacy, 'eip2930', 'eip1559', 'eip7702']],
];

const typeNumbers: Record<string, Hex> = {
  legacy: '0x0',
  reverted: '0x0',
  eip2930: '0x1',
  eip1559: '0x2',
  eip7702: '0x4',
};

const zeroHash = `0x${'0'.repeat(64)}`;
const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';

/** The first block of a development network of reth 2.7 under the rules of Amsterdam. */
const amsterdamHeader = {
  parentHash: '0x2648510bb7819909b36373a3a2ccda82a51a0c8b154d03ff7710ef8d64b689e6',
  sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
  miner: '0x8943545177806ed17b9f23f0a21ee5948ecaa776',
  stateRoot: '0x2338ab0cb5b76db31251fc2352e9142fd8b2bf19de6ac4a3c201b84d6ba737d3',
  transactionsRoot: emptyRoot,
  receiptsRoot: emptyRoot,
  logsBloom: `0x${'0'.repeat(512)}`,
  difficulty: '0x0',
  number: '0xc0',
  gasLimit: '0xbebc200',
  gasUsed: '0x0',
  timestamp: '0x6abd0dcb',
  extraData: '0x726574682f76322e372e302f6c696e7578',
  mixHash: '0x27184df4d2e2182675a2310a546d32e0d74a7accd4fbeafa84a903cd489dd40c',
  nonce: '0x0000000000000000',
  baseFeePerGas: '0x7',
  withdrawalsRoot: emptyRoot,
  blobGasUsed: '0x0',
  excessBlobGas: '0x0',
  parentBeaconBlockRoot: '0x1214de134cf32c261ff3c2b6f96435016e9b98bf7dcd4870ad0009a2acf79974',
  requestsHash: '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  blockAccessListHash: '0x1d33a17375e8dd0aef5da65c3f51422043f1c40d52eceaaca238cc92501aa32e',
  slotNumber: '0xc0',
  hash: '0x86e1583ca604ce5de648b44c41fb309b8dfe72ab21b57ad9f12eb0d92ac991f8',
};

describe('a block', () => {
  it.each(forks)('is proven by the rules of %s, with transactions and logs', async (hardfork, types) => {
    const { readBlock, readReceipts } = await filledBlock(hardfork, types);
    let parent: string | null = null;
    for (const number of [0, 1, 2, 3]) {
      const block = await readBlock(number, true);
      const header = proveHeader(await readBlock(number, false));
      expect(header).toMatchObject({ number: BigInt(number), hash: block.hash });
      if (parent !== null) expect(header.parentHash).toBe(parent);
      parent = header.hash;
      if (number === 0) continue;
      const hashes = block.transactions.map(({ hash }) => hash);
      expect(await proveTransactionHashes(header, block)).toEqual(hashes);
      const receipts = await readReceipts(number);
      const logs = await proveLogs(header, receipts);
      const receiptLogs = receipts.flatMap((receipt) => receipt.logs);
      expect(logs).toEqual(
        receiptLogs.map((log) => ({
          address: log.address,
          topics: log.topics,
          data: log.data,
          transactionIndex: Number(log.transactionIndex),
          logIndex: Number(log.logIndex),
        })),
      );
      if (number === 2) {
        expect(block.transactions.map(({ type }) => type)).toEqual(types.map((type) => typeNumbers[type]));
        expect(logs.length).toBe(2 * types.filter((type) => type !== 'reverted').length);
      } else expect(logs).toEqual([]);
    }
  });

  it('is not proven if its header lacks a member or any member is altered', async () => {
    const { readBlock } = await filledBlock('prague', legacy);
    const header = await readBlock(2, false);
    const members = Object.keys(header).filter(
      (name) => !['transactions', 'withdrawals', 'uncles', 'size', 'totalDifficulty'].includes(name),
    );
    expect(members).toHaveLength(22);
    for (const name of members) {
      const value = String(header[name]);
      const flipped = value === '0x' ? '0x00' : `${value.slice(0, -1)}${value.endsWith('1') ? '2' : '1'}`;
      for (const wrong of [
        { ...header, [name]: flipped },
        { ...header, [name]: null },
      ])
        expect(() => proveHeader(wrong), name).toThrow(ProviderInconsistent);
    }
    for (const wrong of [null, [], 'x', {}, { ...header, number: '12' }])
      expect(() => proveHeader(wrong)).toThrow(ProviderInconsistent);
  });

  it('is proven under the rules of Amsterdam', () => {
    expect(proveHeader(amsterdamHeader)).toMatchObject({ number: 192n, hash: amsterdamHeader.hash });
    for (const name of ['blockAccessListHash', 'slotNumber'])
      expect(() => proveHeader({ ...amsterdamHeader, [name]: undefined }), name).toThrow(/was altered/);
  });

  it('is refused after a later fork, with the advice to upgrade', () => {
    const later = { ...amsterdamHeader, hash: zeroHash, size: '0x1', uncles: [], newRoot: zeroHash };
    expect(() => proveHeader(later)).toThrow(/block 192.*newRoot.*upgrade/);
    expect(() => proveHeader(later)).not.toThrow(/size|uncles|altered/);
    // Nodes add members of their own, which the hash does not cover.
    expect(proveHeader({ ...amsterdamHeader, l1BlockNumber: '0x1' }).number).toBe(192n);
  });

  it('proves no logs if its receipts or transactions do not match its header', async () => {
    const { readBlock, readReceipts } = await filledBlock('cancun', [...legacy, 'eip2930', 'eip1559']);
    const block = await readBlock(2, true);
    const header = proveHeader(block);
    const receipts = await readReceipts(2);
    const [first, ...rest] = receipts as [Receipt, ...Receipt[]];
    const [log, second] = first.logs as [Receipt['logs'][number], Receipt['logs'][number]];
    const withLogs = (logs: readonly unknown[]) => [{ ...first, logs }, ...rest];
    const lies: Record<string, unknown> = {
      'a doubled log': withLogs([log, log, second]),
      'a missing log': withLogs([log]),
      'no logs': withLogs([]),
      'logs in another order': withLogs([second, log]),
      'altered data': withLogs([{ ...log, data: `0x${'0'.repeat(63)}9` }, second]),
      'another topic': withLogs([{ ...log, topics: [`0x${'0'.repeat(63)}9`] }, second]),
      'another address': withLogs([{ ...log, address: `0x${'9'.repeat(40)}` }, second]),
      'another status': [{ ...first, status: '0x0' }, ...rest],
      'another type': [{ ...first, type: '0x1' }, ...rest],
      'other gas': [{ ...first, cumulativeGasUsed: '0x1' }, ...rest],
      'one receipt less': rest,
      'one receipt twice': [first, ...receipts],
      'another order': [...rest, first],
      'those of another block': await readReceipts(1),
      nothing: [],
      null: null,
    };
    for (const [what, given] of Object.entries(lies))
      await expect(proveLogs(header, given), what).rejects.toThrow(ProviderInconsistent);

    const [transaction, ...others] = block.transactions as [Members, ...Members[]];
    const altered: Record<string, unknown> = {
      'another recipient': [{ ...transaction, to: `0x${'9'.repeat(40)}` }, ...others],
      'another signature': [{ ...transaction, r: '0x1' }, ...others],
      'another type': [{ ...transaction, type: '0x2' }, ...others],
      'an unknown type': [{ ...transaction, type: '0x7e' }, ...others],
      'another order': [...others, transaction],
      'hashes alone': block.transactions.map(({ hash }) => hash),
      nothing: [],
    };
    for (const [what, transactions] of Object.entries(altered))
      await expect(proveTransactionHashes(header, { transactions }), what).rejects.toThrow(
        ProviderInconsistent,
      );
    // The hash in a transaction's answer is not needed.
    const renamed = block.transactions.map((one) => ({ ...one, hash: `0x${'9'.repeat(64)}` }));
    expect(await proveTransactionHashes(header, { transactions: renamed })).toEqual(
      block.transactions.map(({ hash }) => hash),
    );
  });

  it('may hold a transaction with blobs', async () => {
    const account = mnemonicToAccount('test test test test test test test test test test test junk');
    const [to, key, versionedHash] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(64)}`, `0x01${'c'.repeat(62)}`];
    const amounts = { nonce: 3, maxPriorityFeePerGas: 1n, maxFeePerGas: 2n, gas: 21_000n, value: 9n };
    const all = { ...amounts, chainId: 1, maxFeePerBlobGas: 4n };
    const signed = await account.signTransaction({
      ...all,
      type: 'eip4844',
      to: to as Hex,
      data: '0x12',
      accessList: [{ address: to as Hex, storageKeys: [key as Hex] }],
      blobVersionedHashes: [versionedHash as Hex],
    });
    const trie = await createMPT();
    await trie.put(RLP.encode(0), hexToBytes(signed));
    const { r, s, yParity } = parseTransaction(signed) as { r: Hex; s: Hex; yParity: number };
    const numbers = { ...all, yParity, r: BigInt(r), s: BigInt(s) };
    const unsigned = {
      ...Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, numberToHex(value)])),
      type: '0x3',
      to,
      input: '0x12',
      accessList: [{ address: to, storageKeys: [key] }],
      blobVersionedHashes: [versionedHash],
    };
    const header = {
      number: 1n,
      hash: buildBlockHash(1),
      parentHash: buildBlockHash(0),
      timestampMs: 0,
      logsBloom: '0x',
      receiptsRoot: '0x',
      transactionsRoot: bytesToHex(trie.root()),
    } as const;
    expect(await proveTransactionHashes(header, { transactions: [unsigned] })).toEqual([keccak256(signed)]);
  });

  it('is proven by a local chain that was stopped and started again', async () => {
    const dir = temporaryDirectory();
    const first = await filledBlock('cancun', legacy, dir);
    const before = await first.readReceipts(2);
    await first.anvil.stop();
    const { readBlock, readReceipts } = await startChain('cancun', dir);
    const block = await readBlock(2, true);
    const header = proveHeader(block);
    expect(await readReceipts(2)).toEqual(before);
    expect(await proveLogs(header, await readReceipts(2))).toHaveLength(4);
    expect(await proveTransactionHashes(header, block)).toHaveLength(3);
  });
});
