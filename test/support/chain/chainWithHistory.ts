import { foldChain } from './foldedChain.ts';
import { createRandomEconomy } from './randomEconomy.ts';
import { startEconomy } from './testEconomy.ts';

/** A chain after some steps of a random economy, with its views. Tests may continue from each other. */
export async function startChainWithHistory({
  seed,
  steps,
}: {
  readonly seed: number;
  readonly steps: number;
}) {
  const economy = await startEconomy();
  const chain = await foldChain(economy);
  const random = createRandomEconomy(economy, seed);
  await random.open();
  for (let step = 0; step < steps; step++) await random.step();
  await chain.fold();
  return { economy, chain, random };
}

export type ChainWithHistory = Awaited<ReturnType<typeof startChainWithHistory>>;
