/**
 * Number of examples for a property. Each test run draws others, so a modest number finds mistakes within days. `MINER_TEST_EFFORT=10 npm test`
 * multiplies it by ten, as the workflow does every night.
 */
export function runs(count: number): number {
  return Math.ceil(count * Number(process.env.MINER_TEST_EFFORT ?? 1));
}
