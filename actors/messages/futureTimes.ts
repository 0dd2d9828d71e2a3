import { type Rejection, reject } from './decodeMessage.ts';

/**
 * A message may name times up to this long after the stream stored it (MESSAGES.md, Common rules). Clocks of publishers are a little ahead; a
 * time in the far future would hide or block everything that follows.
 */
export const aheadMsMax = 300_000;

/**
 * Rejects a message that names a time too long after another one, for instance after its stream stored it; null for any other.
 *
 * @param times by their names, in epoch milliseconds.
 */
export function findFutureTime(
  times: Readonly<Record<string, number | bigint>>,
  against: { readonly name: string; readonly ms: number },
): { readonly rejection: Rejection } | null {
  for (const [name, ms] of Object.entries(times)) {
    if (ms <= against.ms + aheadMsMax) continue;
    const ahead = BigInt(ms) - BigInt(against.ms);
    return reject(
      'future_observation',
      `${name} is ${ahead} ms after ${against.name}, at most ${aheadMsMax} ms are accepted: check the clocks`,
    );
  }
  return null;
}
