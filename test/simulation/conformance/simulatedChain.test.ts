import { type Hash, type Hex, toHex } from 'viem';
import { describe, expect, it } from 'vitest';
import { contractKinds } from '../../../actors/chain/spans/chainEvent.ts';
import { createLogDecoder } from '../../../actors/chain/spans/decodeLog.ts';
import { toAddress, toTransactionHash } from '../../../actors/schemas/hex.ts';
import { proveHeader, proveLogs, proveTransactionHashes } from '../../../streams/indexer/blockProof.ts';
import { buildBlockHash } from '../../support/chain/hashes.ts';
import { createRandomEconomy } from '../../support/chain/randomEconomy.ts';
import { chainGenesis, startEconomy, type TestEconomy } from '../../support/chain/testEconomy.ts';
import { shareInFile } from '../../support/processes/lifetime.ts';
import { answerCall, type RpcAnswer } from '../chain/answerCall.ts';
import { contracts, guardian, operator } from '../chain/contracts/settings.ts';
import { createEthereumChain } from '../chain/ethereumNode.ts';
import { createMiners } from '../workload/blockMiners.ts';
import { createRandom } from '../world/random.ts';

const genesis = BigInt(chainGenesis);
const steps = 60;
const spanMs = 40 * 600_000;

/** A chain of the real contracts, which no test changes. */
const shareEconomy = shareInFile(async () => {
  const economy = await startEconomy();
  const random = createRandomEconomy(economy, 3);
  await random.open();
  for (let step = 0; step < steps; step++) await random.step();
  return { economy, sent: random.sent };
});

/** The logs of a transaction; none if it was reverted. */
async function readEvents({ client, deployed }: TestEconomy, hash: Hash) {
  const decode = createLogDecoder(deployed.contracts);
  const { logs, blockNumber: number } = await client.getTransactionReceipt({ hash });
  const block = { number, hash: buildBlockHash(number), timestampMs: 0, logs: [] };
  return logs.flatMap(({ address, topics, data, logIndex }) => {
    const place = { transactionHash: toTransactionHash(hash), transactionIndex: 0, logIndex };
    const event = decode(block, { address: toAddress(address), topics, data, ...place });
    return event === null ? [] : [{ contract: event.contract, name: event.name, args: event.args }];
  });
}

/** Arguments as text, with the addresses of the simulated deployment. */
function format(
  { deployed, guardian: realGuardian, operator: realOperator }: TestEconomy,
  events: readonly object[],
): string[] {
  const same = new Map<string, string>([
    ...contractKinds.map((kind) => [deployed.contracts[kind], contracts[kind]] as const),
    [realGuardian, guardian],
    [realOperator, operator],
  ]);
  return events.map((event) =>
    JSON.stringify(event, (name, value) => {
      if (name === 'args')
        return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
      if (typeof value === 'bigint') return String(value);
      return typeof value === 'string' ? (same.get(value.toLowerCase()) ?? normalize(value)) : value;
    }),
  );
}

const normalize = (value: string) => (/^0x[0-9a-fA-F]{40}$/.test(value) ? value.toLowerCase() : value);

describe('the contracts, real and simulated', () => {
  it('log the same events for the same calls', async () => {
    const { economy, sent } = await shareEconomy();
    const changing = new Set<string>();
    for (const { name, hash, events } of sent) {
      expect(format(economy, await readEvents(economy, hash)), name).toEqual(format(economy, events));
      if (events.length > 0) changing.add(name);
    }
    for (const name of ['settle', 'checkpoint', 'mint', 'merge', 'claim', 'transfer'])
      expect([...changing]).toContain(name);
  });
});

/** Calls either node. */
type Ask = (method: string, params: readonly unknown[]) => Promise<RpcAnswer>;

const shareNodes = shareInFile(async () => {
  const { economy } = await shareEconomy();
  const chain = await createEthereumChain(genesis, genesis - 3_600n);
  const wallMs = () => chainGenesis * 1_000 + spanMs;
  await createMiners({ chain, random: createRandom('conformance'), wallMs }).mineSpan(spanMs);
  const real: Ask = async (method, params) => {
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    return (await (await fetch(economy.url, { method: 'POST', headers, body })).json()) as RpcAnswer;
  };
  const simulated: Ask = async (method, params) => answerCall(chain.blocks, { id: 1, method, params });
  return { chain, real, simulated };
});

const readResult = (answer: RpcAnswer) => ('result' in answer ? answer.result : answer.error);

/** The last block whose first transaction holds logs. */
async function findBlockWithLogs(ask: Ask) {
  for (let number = Number(readResult(await ask('eth_blockNumber', []))); number > 0; number--) {
    const receipts = readResult(await ask('eth_getBlockReceipts', [toHex(number)])) as { logs: unknown[] }[];
    if (receipts[0] !== undefined && receipts[0].logs.length > 0) return toHex(number);
  }
  throw new Error('no block holds logs');
}

/** Names and types of members. The simulated node may omit members that the service does not read, but adds none. */
function describeShape(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [describeShape(value[0])];
  if (value === null || typeof value !== 'object')
    return typeof value === 'string' && /^0x/.test(value) ? 'hexadecimal' : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, describeShape(member)]));
}

describe('a node, real and simulated', () => {
  it('answers in the same form', async () => {
    const { real: askReal, simulated: askSimulated } = await shareNodes();
    for (const [method, params] of [
      ['eth_chainId', () => []],
      ['eth_getBlockByNumber', (block: Hex) => [block, false]],
      ['eth_getBlockByNumber', (block: Hex) => [block, true]],
      ['eth_getBlockReceipts', (block: Hex) => [block]],
    ] as const) {
      const real = await askReal(method, params(await findBlockWithLogs(askReal)));
      const simulated = await askSimulated(method, params(await findBlockWithLogs(askSimulated)));
      expect(describeShape(readResult(real)), method).toMatchObject(
        describeShape(readResult(simulated)) as object,
      );
    }
  });

  it('has no block above the newest, and refuses unknown methods', async () => {
    const { real, simulated } = await shareNodes();
    const show = (answer: RpcAnswer) => ('error' in answer ? answer.error.code : (answer.result ?? null));
    for (const [method, params] of [
      ['eth_getBlockByNumber', [toHex(1_000_000), false]],
      ['eth_getBlockReceipts', [toHex(1_000_000)]],
      ['eth_inventedHere', []],
    ] as const)
      expect(show(await simulated(method, params)), method).toEqual(show(await real(method, params)));
  });

  it('has blocks that are proven by their hashes', async () => {
    const { real, simulated } = await shareNodes();
    for (const ask of [real, simulated]) {
      for (const block of ['latest', await findBlockWithLogs(ask)]) {
        const header = proveHeader(readResult(await ask('eth_getBlockByNumber', [block, false])));
        const number = toHex(header.number);
        const logs = await proveLogs(header, readResult(await ask('eth_getBlockReceipts', [number])));
        const hashes = await proveTransactionHashes(
          header,
          readResult(await ask('eth_getBlockByNumber', [number, true])),
        );
        for (const { transactionIndex } of logs) expect(hashes[transactionIndex]).toMatch(/^0x/);
      }
    }
  });

  it('names the same logs by a filter as the receipts hold', async () => {
    const { chain, simulated } = await shareNodes();
    const filter = { address: [contracts.mining], fromBlock: '0x0', toBlock: 'latest' };
    const named = readResult(
      await simulated('eth_getLogs', [{ ...filter, toBlock: toHex(chain.tip.number) }]),
    ) as unknown[];
    const held = chain.blocks.flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs));
    expect(named).toEqual(held.filter(({ address }) => address === contracts.mining));
    expect(named.length).toBeGreaterThan(0);
  });
});
