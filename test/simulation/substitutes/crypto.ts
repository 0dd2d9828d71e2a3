import { currentWorld } from '../world/currentWorld.ts';

export * from 'node:crypto';

/** A UUID of the seed. */
export function randomUUID(): string {
  const { random } = currentWorld();
  const hex = Array.from({ length: 32 }, () => random.integer(0, 15).toString(16)).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}

export function randomBytes(length: number): Buffer {
  const { random } = currentWorld();
  return Buffer.from(Array.from({ length }, () => random.integer(0, 255)));
}
