/**
 * Token buckets of the rate classes (CONTRACT.md, Rate limits). `other` covers everything except routes, such as documents and errors.
 * Each class gets at least a token per second, so a refused client waits for one second. Probes have their own class, so that other requests from their address do not take their tokens.
 */
export const rateClasses = {
  publicFast: { perSecond: 30, burst: 60 },
  publicHeavy: { perSecond: 5, burst: 20 },
  metadata: { perSecond: 20, burst: 40 },
  other: { perSecond: 20, burst: 60 },
  health: { perSecond: 100, burst: 200 },
} as const;
export type RateClass = keyof typeof rateClasses;
/** Rate and burst of a site (an IPv6 /48) as a multiple of a client's. A site may have 65,536 client networks. */
export const siteFactor = 16;
