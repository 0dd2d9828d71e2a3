const address = (digit: number) => `0x${String(digit).repeat(40)}`;

/** A chain for deployment files of processes that never reach their node. */
export const unreachedChain = {
  release: { id: 'release-1', protocolRevision: 'protocol-1', rewardModelRevision: 'rewards-1' },
  chain: { target: 'anvil', chainId: '31337', deploymentBlock: '1', economyDeploymentBlock: '1' },
  contracts: {
    core: address(1),
    proxyAdmin: address(2),
    operatorTimelock: address(3),
    tokenFactory: address(4),
    mining: address(5),
    token: address(6),
    collection: address(7),
  },
};
