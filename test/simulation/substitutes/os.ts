import { currentWorld } from '../world/currentWorld.ts';

export * from 'node:os';

/** The same wherever the simulation runs. */
export const hostname = () => 'simulated';

export const uptime = () => currentWorld().time.nowMs() / 1_000;
