import { createHash } from 'node:crypto';

/** Deterministic random values of the simulation: the same for the same text. */

/** A number in [0, 1). */
export function computeSeededFraction(text: string): number {
  return createHash('md5').update(text).digest().readUInt32BE(0) / 2 ** 32;
}

export function createSeededUuid(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** A number in [0, 1) for each purpose, the same for the same seed and step. */
export type Draw = (what: string) => number;
