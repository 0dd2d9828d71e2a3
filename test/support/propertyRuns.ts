/**
 * How many examples a property is tried with. Each run of the tests draws others, so a modest number finds what is wrong over some days; one that
 * has more time (`MINER_TEST_EFFORT=10 npm test`, as the workflow does every night) tries so many times as many.
 */
export function runs(count: number): number {
  return Math.ceil(count * Number(process.env.MINER_TEST_EFFORT ?? 1));
}
