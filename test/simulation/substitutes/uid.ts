import { randomUUID } from './crypto.ts';

/** Names of viem's clients. viem's own supply would continue from an earlier simulation. */
export const uid = (): string => randomUUID();
