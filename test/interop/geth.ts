import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Address,
  custom,
  type Hex,
  http,
  keccak256,
  parseTransaction,
  serializeTransaction,
  toHex,
} from 'viem';
import { localChain } from '../../deploy/local/localChainClient.ts';
import { chainGenesis, type EconomyNode } from '../support/chain/testEconomy.ts';
import { startProcess, startRestartable, untilReady } from '../support/processes/childProcess.ts';
import { findFreePort } from '../support/processes/findFreePort.mjs';
import { temporaryDirectory } from '../support/processes/lifetime.ts';
import { createAccount, createTransactionSigner, type SentTransaction } from './transactionSigner.ts';

/** The contracts are deployed across the first of these forks, and used across the second. */
const forks = { osakaTime: chainGenesis - 3_595, amsterdamTime: chainGenesis + 12 * 3_600 };

/** A contract that logs its call data: the first word as the topic, everything as data. */
const loggingContract = { address: `0x${'e'.repeat(40)}`, code: '0x366000600037600035366000a100' } as const;

const accounts = Array.from({ length: 20 }, (_, index) => createAccount(index));
/** Calls {@link loggingContract} in each block. */
const stranger = createAccount(19);
const delegating = createAccount(18);

interface Block {
  readonly timestamp: Hex;
  readonly transactions: readonly Hex[];
}

/** A development chain of go-ethereum, with the part of anvil's interface that tests use. */
interface Geth extends EconomyNode {
  /** Sends a request and returns the result. */
  request(method: string, params?: unknown[]): Promise<never>;
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Restarts geth with further arguments, and gives it the blocks that it lost. Resolves with the number of these blocks. */
  restart(...args: string[]): Promise<number>;
}

/** Starts geth on a new chain with the given further arguments, until the test ends. */
export async function startGeth(...args: string[]): Promise<Geth> {
  const dir = temporaryDirectory();
  createChain(dir);
  const [port, authPort] = [await findFreePort(), await findFreePort()];
  const url = `http://127.0.0.1:${port}`;
  const node = http(url, { batch: true, retryCount: 0, timeout: 60_000 })({ chain: localChain });
  const request = (method: string, params: unknown[] = []) =>
    node.request({ method, params } as never) as Promise<never>;
  const readNonce = async (address: Address) =>
    Number(await request('eth_getTransactionCount', [address, 'latest']));

  let extraArguments: readonly string[] = args;
  const server = await startRestartable(async () => {
    const started = startProcess('geth', [
      ...['--dev', '--datadir', dir, '--miner.gaslimit', '120000000', '--nodiscover', '--ipcdisable'],
      ...['--http', '--http.port', String(port), '--http.api', 'eth,debug,testing'],
      ...['--authrpc.port', String(authPort), '--port', '0'],
      ...extraArguments,
    ]);
    await untilReady(started, () => request('eth_chainId'), `geth on ${url}`);
    return started;
  });

  const sign = createTransactionSigner({
    chainId: localChain.id,
    delegating,
    readDelegatingNonce: () => readNonce(delegating.address),
  });
  /** Every block after the genesis block. */
  let blocks: Block[] = [];
  /** Transactions that are not in a block yet. */
  let waiting: { readonly from: Address; readonly signed: Hex }[] = [];

  /** Makes a block. The same transactions with the same timestamp and parent give the same block, so a lost block can be made again. */
  async function commit({ timestamp, transactions }: Block) {
    const isAmsterdam = Number(timestamp) >= forks.amsterdamTime;
    const attributes = {
      timestamp,
      prevRandao: toHex(0, { size: 32 }),
      suggestedFeeRecipient: toHex(0, { size: 20 }),
      withdrawals: [],
      parentBeaconBlockRoot: toHex(0, { size: 32 }),
      ...(isAmsterdam ? { slotNumber: timestamp, targetGasLimit: toHex(120_000_000) } : {}),
    };
    await request('testing_commitBlockV1', [attributes, transactions]);
  }

  async function send(sent: SentTransaction): Promise<Hex> {
    const from = sent.from.toLowerCase() as Address;
    const account = accounts.find(({ address }) => address.toLowerCase() === from);
    if (account === undefined) throw new Error(`${from} is not an account of the node`);
    const nonce = (await readNonce(from)) + waiting.filter((one) => one.from === from).length;
    const signed = await sign(account, nonce, sent);
    waiting.push({ from, signed });
    return hashTransaction(signed);
  }

  async function mine(timestamp: number) {
    await send({ from: stranger.address, to: loggingContract.address, data: keccak256(toHex(timestamp)) });
    const block = { timestamp: toHex(timestamp), transactions: waiting.map(({ signed }) => signed) };
    waiting = [];
    await commit(block);
    blocks.push(block);
  }

  async function rollBack(depth: number) {
    const number = blocks.length - depth;
    await request('debug_setHead', [toHex(number)]);
    blocks = blocks.slice(0, number);
  }

  const answer = async ({ method, params = [] }: { method: string; params?: unknown }): Promise<unknown> => {
    const [first] = params as unknown[];
    switch (method) {
      case 'eth_accounts':
        return accounts.slice(0, 18).map(({ address }) => address);
      case 'eth_sendTransaction':
        return send(first as never);
      case 'evm_mine':
        return mine((first as { timestamp: number }).timestamp);
      case 'anvil_rollback':
        return rollBack(first as never);
      case 'anvil_dropAllTransactions':
        waiting = [];
        return null;
      default:
        return request(method, params as unknown[]);
    }
  };

  return {
    url,
    transport: custom({ request: answer }, { retryCount: 0 }),
    request,
    kill: server.kill,
    restart: async (...more) => {
      extraArguments = [...args, ...more];
      await server.start();
      const kept = Number(await request('eth_blockNumber'));
      for (const block of blocks.slice(kept)) await commit(block);
      return blocks.length - kept;
    },
  };
}

/** Initializes a folder with the genesis of `--dev`, funded accounts and our own fork times. */
function createChain(dir: string) {
  const genesis = JSON.parse(execFileSync('geth', ['--dev', 'dumpgenesis'], { encoding: 'utf8' }));
  const { bogotaTime: _, ...config } = genesis.config;
  genesis.config = { ...config, ...forks, chainId: localChain.id };
  genesis.timestamp = toHex(chainGenesis - 3_600);
  genesis.gasLimit = toHex(120_000_000);
  genesis.alloc[loggingContract.address] = { balance: '0x0', code: loggingContract.code };
  for (const { address } of accounts) genesis.alloc[address] = { balance: toHex(10n ** 24n) };
  const file = join(dir, 'genesis.json');
  writeFileSync(file, JSON.stringify(genesis));
  execFileSync('geth', ['init', '--datadir', dir, file], { stdio: 'pipe' });
}

/** A transaction of type 3 is hashed without its blobs. */
function hashTransaction(signed: Hex): Hex {
  if (!signed.startsWith('0x03')) return keccak256(signed);
  return keccak256(serializeTransaction({ ...parseTransaction(signed), sidecars: false } as never));
}
