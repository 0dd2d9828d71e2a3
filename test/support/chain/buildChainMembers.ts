import { buildChainDeployment } from './foldedChain.ts';
import type { TestEconomy } from './testEconomy.ts';

/** Release, chain and contracts as a deployment file has them. */
export function buildChainMembers(economy: TestEconomy): object {
  const { release, chain, contracts } = buildChainDeployment(economy);
  const decimals = Object.entries(chain).map(([name, value]) => [
    name,
    typeof value === 'bigint' ? String(value) : value,
  ]);
  return { release, chain: Object.fromEntries(decimals), contracts };
}
