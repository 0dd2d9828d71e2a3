import type { Reading } from '../../reference/acceptedReadings.ts';
import { owners } from '../chain/contracts/settings.ts';
import { SimulationFailure } from '../checks/failure.ts';
import { createOwnerWalker } from '../checks/ownerWalker.ts';
import { observeTags } from '../checks/tagObserver.ts';
import { createWalker } from '../checks/walker.ts';
import type { Fleet } from '../processes/simulatedFleet.ts';
import type { SimulatedWorld } from '../world/createWorld.ts';

const polledPaths = [
  '/v1/public/telemetry',
  '/v1/public/installations/wheel:two/telemetry',
  '/v1/status',
  '/v4/public/process',
  '/v2/public/stats?range=7d',
  '/v1/measurement/stats?range=30d',
  '/v1/events',
  '/v1/core',
  '/v1/mining/state',
  '/v2/public/miners/state',
  '/v1/settlements?range=24h',
  '/v1/public/installations/wheel.one/observations?limit=100',
];
/** Statuses of a service that cannot answer at the moment. */
const busyStatuses: ReadonlySet<number> = new Set([503, 504]);

/** Clients that poll and walk during storms. Their answers are checked at once, or when a list is complete. */
export function createClients(world: SimulatedWorld, fleet: Fleet) {
  const random = world.random.fork('clients');
  const walkers = [createWalker('wheel.one', true), createWalker('wheel:two', false)];
  const ownerWalkers = owners
    .slice(0, 3)
    .flatMap((owner) =>
      (['miners', 'activity'] as const).map((list) => createOwnerWalker(world.chain, owner, list)),
    );
  const tags = observeTags();

  async function step() {
    const { alive } = fleet;
    if (alive.length === 0) return;
    const process = random.pick(alive);
    await random.pick(walkers).step(process.get);
    await random.pick(ownerWalkers).step(process.get);
    const path = random.pick(polledPaths);
    const response = await process.get(path);
    if (response === null) return;
    if (response.status >= 500 && !busyStatuses.has(response.status))
      throw new SimulationFailure('answers', `${process.name} ${path}: ${response.status} ${response.body}`);
    tags.note(process.name, path, response);
  }

  return {
    run: async (isOver: () => boolean) => {
      while (!isOver()) {
        await world.sleep(random.integer(200, 3_000));
        await step();
      }
    },
    /** Begins again, because messages they have read may be gone. */
    restart: () => {
      for (const walker of walkers) walker.restart();
    },
    check: (accepted: readonly Reading[]) => {
      for (const walker of walkers)
        walker.check(
          accepted
            .filter(({ installationId }) => installationId === walker.installationId)
            .map(({ telemetryId }) => telemetryId),
        );
    },
  };
}
