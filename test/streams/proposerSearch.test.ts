import { zeroHash } from 'viem';
import { describe, expect, it } from 'vitest';
import { type ProposerChange, proposerRole } from '../../actors/chain/spans/chainReads.ts';
import { type Address, toAddress } from '../../actors/schemas/hex.ts';
import { createChainReader } from '../../streams/indexer/chainReader.ts';
import { createIndexerWork } from '../../streams/indexer/indexerWork.ts';
import { ProviderInconsistent } from '../../streams/indexer/providerInconsistent.ts';
import type { SpanPublisher } from '../../streams/indexer/spanPublisher.ts';
import { serveChains, writeChain } from '../support/chain/writtenNode.ts';
import { type WrittenEvent, writtenContracts } from '../support/chain/writtenSpans.ts';
import { silentLogger } from '../support/silentLogger.ts';

const timelock = writtenContracts.operatorTimelock;
const [alice, bob, carol] = ['a', 'b', 'c'].map((digit) => toAddress(`0x${digit.repeat(40)}`)) as [
  Address,
  Address,
  Address,
];
const change = (
  name: 'RoleGranted' | 'RoleRevoked',
  account: Address,
  role = proposerRole,
): WrittenEvent => ({
  contract: 'operatorTimelock',
  name,
  args: { role, account, sender: alice },
});
const grant = (account: Address) => change('RoleGranted', account);
const revoke = (account: Address) => change('RoleRevoked', account);

const creation = 6;
const deploymentBlock = 60n;
const written = new Map([
  [creation, [change('RoleGranted', timelock, zeroHash), grant(alice)]],
  [20, [grant(bob)]],
  [40, [revoke(alice)]],
  [50, [revoke(bob)]],
  // In an indexed block.
  [61, [grant(carol)]],
]);
/** Blocks of which most have logs of the core, so that a node can prove that it has them. */
const chain = await writeChain(
  Array.from({ length: 70 }, (_, number) => [
    ...(written.get(number) ?? []),
    ...(number % 3 === 0 ? [{ contract: 'core', name: 'Initialized', args: { version: 1n } } as const] : []),
  ]),
);
const changes: readonly ProposerChange[] = [
  { account: alice, isGranted: false },
  { account: bob, isGranted: false },
];

type Node = ReturnType<typeof serveChains>[number];

function readFilter(params: readonly unknown[] = []) {
  const { fromBlock, toBlock } = params[0] as { readonly fromBlock: string; readonly toBlock: string };
  return { from: Number(fromBlock), to: Number(toBlock) };
}

/** A node that answers requests for the logs of at most `blocksMax` blocks, and refuses others. */
function serve(
  blocksMax = 1_000,
  refusal: ReturnType<Node['onCall']> = { error: { code: -32_602, message: '' } },
) {
  const [node] = serveChains(chain) as [Node];
  const searched: { from: number; to: number }[] = [];
  node.onCall = ({ method, params }) => {
    if (method !== 'eth_getLogs') return null;
    const { from, to } = readFilter(params);
    if (to - from + 1 > blocksMax) return refusal;
    searched.push({ from, to });
    return null;
  };
  const addresses = Object.values(writtenContracts);
  const reader = createChainReader({ url: node.url, addresses, requestMs: 100 });
  const search = reader.searchProposers(timelock, deploymentBlock);
  return { node, reader, searched, search };
}

/** A node that has removed the logs of old blocks, and says nothing. */
function prune({ node }: ReturnType<typeof serve>, below: number) {
  const { onCall, blocks } = node;
  node.onCall = (call) => {
    const refused = onCall(call);
    if (refused !== null) return refused;
    if (call.method === 'eth_getBlockReceipts' && Number(call.params?.[0]) < below) return { result: [] };
    if (call.method !== 'eth_getLogs') return null;
    const { from, to } = readFilter(call.params);
    const logs = blocks
      .slice(Math.max(below, from), to + 1)
      .flatMap(({ receipts }) => receipts.flatMap((receipt) => receipt.logs));
    return { result: logs.filter(({ address }) => address === timelock) };
  };
}

const start = { fromBlock: 70n, proposers: [] };

describe('proposers from before the deployment', () => {
  it('are found down to the creation of the timelock, and no further', async () => {
    const { search, searched } = serve();
    expect(await search(start)).toEqual({ fromBlock: 0n, proposers: changes });
    expect(searched).toEqual([{ from: 0, to: 69 }]);
  });

  it.each([
    { error: { code: -32_602, message: 'ranges over 4 blocks are not supported' } },
    { error: { code: -32_600, message: 'block range too large' } },
    { error: { code: -32_005, message: 'more than 10000 results' } },
    { error: { code: 4_444, message: 'pruned history unavailable' } },
    { status: 413 },
    'silence',
  ] as const)('are searched in fewer blocks at once if the node answers with %o', async (refusal) => {
    const { search, searched } = serve(9, refusal);
    let found: Awaited<ReturnType<typeof search>> = start;
    while (found.fromBlock > 0n) found = await search(found);
    expect(found.proposers).toEqual(changes);
    for (const [at, { to }] of searched.slice(1).entries()) expect(to).toBe((searched[at]?.from ?? 0) - 1);
    expect(searched.at(-1)?.to).toBeGreaterThanOrEqual(creation);
    expect(searched.length).toBeLessThan(16);
  });

  it.each([{ status: 429 }, { error: { code: 429, message: 'too many requests' } }])(
    'are not searched in fewer blocks after %o',
    async (refusal) => {
      const { search, node } = serve(1, refusal);
      await expect(search(start)).rejects.toThrow();
      expect(node.calls).toHaveLength(1);
    },
  );

  it.each([null, {}, [null], [{}], [{ blockNumber: null }], [{ blockNumber: '0x46' }]])(
    'are not in an answer of %o',
    async (result) => {
      const { search, node } = serve();
      node.onCall = ({ method }) => (method === 'eth_getLogs' ? { result } : null);
      await expect(search(start)).rejects.toThrow(ProviderInconsistent);
    },
  );

  it.each([
    ['at once', 1_000, /creation of the timelock/],
    ['after several requests', 1, /proves no logs/],
  ])(
    'are unknown, not absent, if a node has silently removed their logs %s',
    async (_what, blocksMax, why) => {
      const served = serve(blocksMax);
      prune(served, 67);
      await expect(served.search(start)).rejects.toThrow(why);
    },
  );

  it('are returned while the search goes on, unless they would all be shown as revoked', async () => {
    const { search } = serve(2);
    const first = await search(start);
    // An older grant may still hold after the two revocations.
    expect(first.proposers).toEqual(changes);
    expect(first.fromBlock).toBe(0n);
    const shown = await serve(1).search({ fromBlock: 31n, proposers: [] });
    expect(shown.fromBlock).toBeGreaterThan(BigInt(creation));
    expect(shown.proposers).toEqual([{ account: bob, isGranted: true }]);
  });

  it('are published step by step, and continued after a restart', async () => {
    const served = serve(1);
    const published: Parameters<SpanPublisher['publishReads']>[0][] = [];
    const publisher = {
      // Reads of an older version, which asked once and took no logs for none.
      reads: async () => published.at(-1) ?? { fromBlock: null, proposers: [] },
      publishReads: async (reads: (typeof published)[number]) => {
        published.push(reads);
      },
    };
    const publishReads = () =>
      createIndexerWork({
        reader: served.reader,
        publisher: publisher as never,
        chainId: 31_337n,
        deploymentBlock,
        timelock,
        logger: silentLogger,
      }).publishReads({ signal: new AbortController().signal });
    prune(served, 41);
    await expect(publishReads()).rejects.toThrow(/proves no logs/);
    const [first] = published;
    expect(published).toEqual([{ ...first, blockNumber: '59', proposers: [] }]);
    expect(Number(first?.fromBlock)).toBeGreaterThan(41);
    served.node.onCall = serve(1).node.onCall;
    await publishReads();
    expect(published.at(-1)).toEqual({ ...first, fromBlock: '0', proposers: changes });
    const complete = published.length;
    await publishReads();
    expect(published).toHaveLength(complete);
  });
});
