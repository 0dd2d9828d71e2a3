import type { TestEconomy } from './testEconomy.ts';

/**
 * Replaces the newest `depth` blocks by more blocks. `step` sends other transactions and mines a block.
 */
export async function reorganize(
  economy: TestEconomy,
  depth: number,
  step: () => Promise<void>,
): Promise<void> {
  await economy.client.request({ method: 'anvil_rollback', params: [depth] } as never);
  await economy.client.request({ method: 'anvil_dropAllTransactions' } as never);
  await economy.resetClock();
  for (let block = 0; block <= depth; block++) await step();
}
