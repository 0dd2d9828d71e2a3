import type { Deployment } from '../../../deploy/deploymentFile.ts';
import { type ServiceProcess, startServiceProcess } from '../processes/serviceProcess.ts';
import type { SimulatedWorld } from '../world/createWorld.ts';
import { SimulationFailure } from './failure.ts';

/** It has read the chain by then, with nobody in its way. */
const indexedMs = 120_000;
const agreementMs = 40_000;
const againMs = 2_000;

interface HonestComparison {
  readonly world: SimulatedWorld;
  readonly deployment: Deployment;
  readonly paths: readonly string[];
}

/** A process shows the same chain as one that has just indexed it from an honest node into empty streams. */
export async function compareWithHonest(
  process: ServiceProcess,
  { world, deployment, paths }: HonestComparison,
): Promise<void> {
  const honest = await startServiceProcess({
    world,
    name: 'honest',
    deployment,
    isolation: 'streams',
    isIndexing: true,
  });
  const endMs = world.time.nowMs() + indexedMs;
  const head = Number(world.chain.tip.number);
  while ((await honest.metrics()).get('miner_chain_block{block="head"}') !== head) {
    if (world.time.nowMs() > endMs)
      throw new SimulationFailure('honest process', `it has not indexed the chain through ${head}`);
    await world.sleep(500);
  }
  for (const path of paths) await agree(path);
  honest.kill();

  async function agree(path: string) {
    const untilMs = world.time.nowMs() + agreementMs;
    for (;;) {
      const [found, expected] = [await readChainBody(process, path), await readChainBody(honest, path)];
      if (found === expected) return;
      if (world.time.nowMs() > untilMs)
        throw new SimulationFailure(
          'honest index',
          `${process.name} ${path}: ${found}, and a process that has indexed the chain says ${expected}`,
        );
      await world.sleep(againMs);
    }
  }
}

/** What the chain says, without when it was told: events of the feed by their IDs. */
async function readChainBody(from: ServiceProcess, path: string): Promise<string> {
  const response = await from.get(path);
  if (response === null) return 'no answer';
  const text = response.body
    .toString('utf8')
    .replace(/"(?:generatedAt|recordedAt|nextCursor)":(?:"[^"]*"|null),?/g, '');
  return `${response.status} ${text}`;
}
