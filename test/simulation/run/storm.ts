import { applyFault, type FaultTargets } from '../faults/applyFault.ts';
import { applyWeather, clearWeather } from '../faults/weather.ts';
import type { Episode } from '../plan/plan.ts';

interface StormOptions extends Omit<FaultTargets, 'random'> {
  readonly onFault: (kind: string) => void;
  readonly isOver: () => boolean;
}

/** Runs an episode. The weather is fair again when it resolves. */
export async function storm(episode: Episode, number: number, options: StormOptions): Promise<void> {
  const { world, gateways, publishers, miners, onFault, note } = options;
  const random = world.random.fork(`episode ${number}`);
  const startMs = world.time.nowMs();
  const under: Promise<void>[] = [];
  let isStormy = true;
  applyWeather(world, episode.weather, world.random.fork(`weather ${number}`), onFault);
  if (episode.sleepMs > 0) {
    world.time.sleepAll(episode.sleepMs);
    gateways.publishSpan(episode.sleepMs);
    await miners.mineSpan(episode.sleepMs);
  }
  const repeat = async (meanMs: number, act: () => void | Promise<void>) => {
    while (isStormy && !options.isOver()) {
      await world.sleep(random.next() * 2 * meanMs);
      await act();
    }
  };
  const { readingsPerSecond, settlementsPerSecond = readingsPerSecond / 4 } = episode;
  const publishing = repeat(1_000 / readingsPerSecond, gateways.publishOne);
  const settling = repeat(1_000 / settlementsPerSecond, publishers.publishOne);
  const mining = repeat(episode.secondsPerBlock * 1_000, miners.mineOne);
  for (const { atMs, fault } of episode.faults) {
    await world.sleep(Math.max(0, startMs + atMs - world.time.nowMs()));
    note(JSON.stringify(fault));
    onFault(fault.kind);
    under.push(applyFault(fault, { ...options, random: world.random.fork(`fault ${number} ${atMs}`) }));
  }
  await world.sleep(Math.max(0, startMs + episode.durationMs - world.time.nowMs()));
  await Promise.all(under);
  isStormy = false;
  await Promise.all([publishing, settling, mining]);
  clearWeather(world);
}
