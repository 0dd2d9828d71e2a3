import { currentWorld } from '../world/currentWorld.ts';

export * from 'node:os';

/** The same wherever the simulation runs. */
export const hostname = () => 'simulated';

/** It goes on while the machine is asleep. */
export const uptime = () => {
  const { time } = currentWorld();
  return (time.nowMs() + time.asleepMs) / 1_000;
};
