/** Numbers of the economy, for deployments of tests and for the simulated contracts. */
export const economyNumbers = {
  maxWorkPerRound: 1_000_000n,
  initialWorkPerThousandBlocks: 1_000_000n,
  targetBlocksPerActiveRound: 2n,
  difficultySmoothingRounds: 48n,
  timelockDelaySeconds: 60n,
  supplyCap: 1_000_000n * 10n ** 18n,
  rewardPerBlock: 50n * 10n ** 18n,
  claimLimit: 32n,
  levels: Array.from({ length: 5 }, (_, index) => ({
    weight: BigInt(100 * 2 ** index + 7 * index),
    cooldownBlocks: BigInt(index),
  })),
};
