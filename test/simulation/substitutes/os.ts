export * from 'node:os';

/** The same wherever the simulation runs. */
export const hostname = () => 'simulated';
