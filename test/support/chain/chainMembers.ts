import { testChainId } from './indexedChain.ts';
import type { TestEconomy } from './testEconomy.ts';
import { testRelease } from './testRelease.ts';

/** Release, chain and contracts as a deployment file has them. */
export function buildChainMembers({ deployed }: TestEconomy): object {
  const { contracts, deploymentBlock, economyDeploymentBlock } = deployed;
  const chain = { target: 'anvil', chainId: testChainId, deploymentBlock, economyDeploymentBlock };
  const texts = Object.entries(chain).map(([name, value]) => [name, String(value)]);
  return { release: testRelease, chain: Object.fromEntries(texts), contracts };
}
