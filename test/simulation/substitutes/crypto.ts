import { currentWorld } from '../world/currentWorld.ts';

export * from 'node:crypto';

/** A UUID of the seed. */
export const randomUUID = (): string => currentWorld().random.uuid();

export function randomBytes(length: number): Buffer {
  const { random } = currentWorld();
  return Buffer.from(Array.from({ length }, () => random.integer(0, 255)));
}
