import { owners } from '../chain/contracts/settings.ts';
import type { ServiceProcess } from '../processes/serviceProcess.ts';
import type { SimulatedWorld } from '../world/createWorld.ts';
import { SimulationFailure } from './failure.ts';
import { createOwnerWalker } from './ownerWalker.ts';
import { observeSafeBlocks } from './safeBlockObserver.ts';

/** Views are shared for some seconds, and what the node could not be asked for is asked again within a minute. */
const shownMs = 75_000;
const againMs = 1_000;
const ownerLists = ['miners', 'activity'] as const;
const pageLimit = 40;
const stepsMax = 200;
const stepMs = 100;

/** A process that has indexed everything shows the block that the newest one confirms for the twelfth time, and what the contracts hold there. */
export async function checkChain(
  process: ServiceProcess,
  { chain, time, sleep }: SimulatedWorld,
): Promise<void> {
  const observer = observeSafeBlocks(chain);
  const safe = chain.tip.number - 11n;
  for (const path of ['/v1/core', '/v1/mining/state']) {
    const untilMs = time.nowMs() + shownMs;
    for (;;) {
      const response = await process.get(path);
      if (response !== null && observer.findShown(response) === safe) {
        observer.note(process.name, path, response);
        break;
      }
      if (time.nowMs() > untilMs)
        throw new SimulationFailure(
          'safe block',
          `${process.name} ${path} does not show block ${safe}, which is safe: ${response?.body}`,
        );
      await sleep(againMs);
    }
  }
}

/** The lists of all owners are what the contracts say, to their last page. */
export async function checkOwners(process: ServiceProcess, { chain, sleep }: SimulatedWorld): Promise<void> {
  for (const owner of owners)
    for (const list of ownerLists) {
      const walker = createOwnerWalker(chain, owner, list, pageLimit);
      for (let step = 0; walker.completed === 0; step++) {
        if (step === stepsMax)
          throw new SimulationFailure('owner pages', `${process.name} does not show ${list} of ${owner}`);
        await walker.step(process.get);
        if (walker.completed === 0) await sleep(stepMs);
      }
    }
}
