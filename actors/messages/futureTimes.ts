import { describeDuration, describeTime } from '../schemas/durations.ts';
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
    const ahead = describeDuration(BigInt(ms) - BigInt(against.ms));
    return reject(
      'future_observation',
      `${name}: expected at most ${describeDuration(aheadMsMax)} after ${against.name}, given ${describeTime(ms)}, ${ahead} after it: check the clocks`,
    );
  }
  return null;
}
