import { currentWorld } from '../world/currentWorld.ts';

export * from 'node:os';

/** The same on every machine. */
export const hostname = () => 'simulated';

/** Continues while the machine sleeps. */
export const uptime = () => {
  const { time } = currentWorld();
  return (time.nowMs() + time.asleepMs) / 1_000;
};
