import { randomUUID } from './crypto.ts';

/** Names of clients of a node: those of viem come from a supply that an earlier simulation has begun to use. */
export const uid = (): string => randomUUID();
