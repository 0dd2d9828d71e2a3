import { createTestClient, defineChain, publicActions, walletActions } from 'viem';
import { createNodeTransport } from '../../streams/indexer/nodeTransport.ts';

const requestMs = 10_000;
const batchSize = 1_000;

/** Anvil's chain. viem defines it too, but importing it would load several hundred others. */
export const localChain = defineChain({
  id: 31_337,
  name: 'Anvil',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: ['http://127.0.0.1:8545'] } },
});

/** A client that mines, and sends for the accounts that the local chain has unlocked. */
export type LocalChainClient = ReturnType<typeof createLocalChainClient>;

export function createLocalChainClient(url: string) {
  return createTestClient({
    mode: 'anvil',
    chain: localChain,
    transport: createNodeTransport({ url, requestMs, batchSize }),
    cacheTime: 0,
  })
    .extend(publicActions)
    .extend(walletActions);
}

export type LocalAccounts = Awaited<ReturnType<typeof readLocalAccounts>>;

export async function readLocalAccounts(client: LocalChainClient) {
  const [operator, guardian, reporter, keeper, ...owners] = await client.getAddresses();
  if (operator === undefined || guardian === undefined || reporter === undefined || keeper === undefined)
    throw new Error('the local chain has too few accounts');
  return { operator, guardian, reporter, keeper, owners: owners.slice(0, 6) };
}
