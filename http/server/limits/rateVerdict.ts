import { type HeaderBlock, prepareHeaders } from '../engine/headerBlock.ts';

/** Whether a request may pass, and the headers that tell its limit (draft-ietf-httpapi-ratelimit-headers-11). */
export interface RateVerdict {
  /** 0 for a request that may pass, else the whole seconds until the next one may. */
  readonly waitSeconds: number;
  /**
   * `RateLimit-Policy`: the burst, and the seconds in which an empty bucket fills. `RateLimit`: the requests left, and the seconds over
   * which to spread them.
   */
  readonly headers: HeaderBlock;
}

export interface RateVerdicts {
  /** @param left whole tokens left, at most the burst. */
  readonly allowed: (left: number) => RateVerdict;
  /** @param waitSeconds seconds until there is a token, at least 1. */
  readonly refused: (waitSeconds: number) => RateVerdict;
}

/** All verdicts of a rate class, built in advance so that a request builds no text. */
export function createRateVerdicts(
  name: string,
  { perSecond, burst }: { perSecond: number; burst: number },
): RateVerdicts {
  const policy = `"${name}";q=${burst};w=${Math.ceil(burst / perSecond)}`;
  const build = (left: number, overSeconds: number, waitSeconds: number): RateVerdict => ({
    waitSeconds,
    headers: prepareHeaders([
      ['RateLimit-Policy', policy],
      ['RateLimit', `"${name}";r=${left};t=${overSeconds}`],
    ]),
  });
  const passing = Array.from({ length: burst + 1 }, (_, left) =>
    build(left, Math.max(1, Math.ceil(left / perSecond)), 0),
  );
  const waiting = Array.from({ length: Math.ceil(1 / perSecond) }, (_, index) =>
    build(0, index + 1, index + 1),
  );
  return {
    allowed: (left) => passing[left] as RateVerdict,
    refused: (waitSeconds) => waiting[waitSeconds - 1] as RateVerdict,
  };
}
