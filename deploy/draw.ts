import { createHash } from 'node:crypto';

/** A number in [0, 1) for each question, always the same for the same seed and time. */
export type Draw = (what: string) => number;

export function drawOf(seed: string, step: number): Draw {
  return (what) =>
    createHash('md5').update(`${seed}/economy/${what}/${step}`).digest().readUInt32BE(0) / 2 ** 32;
}
