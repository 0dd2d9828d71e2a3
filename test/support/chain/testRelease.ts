export const testRelease = {
  id: 'release-1',
  protocolRevision: 'protocol-1',
  rewardModelRevision: 'rewards-1',
};
