import { type Address, createTestClient, http, publicActions, walletActions } from 'viem';
import { anvil as anvilChain } from 'viem/chains';

/** A client that mines, and speaks for accounts that the local chain has unlocked. */
export type LocalChainClient = ReturnType<typeof localChainClient>;

export function localChainClient(url: string) {
  return createTestClient({
    mode: 'anvil',
    chain: anvilChain,
    transport: http(url, { retryCount: 0, timeout: 20_000, batch: true }),
    cacheTime: 0,
  })
    .extend(publicActions)
    .extend(walletActions);
}

/** Who does what on the local chain, of its accounts. */
export interface LocalAccounts {
  readonly operator: Address;
  readonly guardian: Address;
  readonly reporter: Address;
  readonly keeper: Address;
  readonly owners: readonly Address[];
}

export async function localAccounts(client: LocalChainClient): Promise<LocalAccounts> {
  const [operator, guardian, reporter, keeper, ...owners] = (await client.getAddresses()) as [
    Address,
    Address,
    Address,
    Address,
    ...Address[],
  ];
  return { operator, guardian, reporter, keeper, owners: owners.slice(0, 6) };
}
