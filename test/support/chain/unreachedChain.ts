import { testRelease } from './testRelease.ts';
import { writtenContracts } from './writtenSpans.ts';

/** A chain for deployment files of processes that never reach their node. */
export const unreachedChain = {
  release: testRelease,
  chain: { target: 'anvil', chainId: '31337', deploymentBlock: '1', economyDeploymentBlock: '1' },
  contracts: writtenContracts,
};
