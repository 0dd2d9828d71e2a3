import { type HeaderBlock, prepareHeaders } from '../engine/headerBlock.ts';

/** A token bucket: how fast it fills, and how much it holds. */
export interface Bucket {
  readonly perSecond: number;
  readonly burst: number;
}

/** Whether a request may pass, and what its response says of the limit (draft-ietf-httpapi-ratelimit-headers-11). */
export interface RateVerdict {
  /** 0 for a request that may pass, else the whole seconds after which one may. */
  readonly waitSeconds: number;
  /**
   * `RateLimit-Policy`: the burst, and the seconds in which an empty bucket is full again. `RateLimit`: how many requests are left, and the seconds over which
   * they should be spread.
   */
  readonly headers: HeaderBlock;
}

export interface RateVerdicts {
  /** @param left whole tokens that are left, at most the burst. */
  readonly allowed: (left: number) => RateVerdict;
  /** @param waitSeconds until there is a token, at least 1. */
  readonly refused: (waitSeconds: number) => RateVerdict;
}

/** The verdicts of a class, all made in advance: an answer costs no text of its own. */
export function createRateVerdicts(name: string, { perSecond, burst }: Bucket): RateVerdicts {
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
