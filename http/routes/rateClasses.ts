/** Token buckets of the rate classes (CONTRACT.md, Rate limits); `other` is of what is no route of the contract: documents, errors. Probes have `health`, so that
 * no other request of their address takes their tokens. */
export const rateClasses = {
  publicFast: { perSecond: 30, burst: 60 },
  publicHeavy: { perSecond: 5, burst: 20 },
  metadata: { perSecond: 20, burst: 40 },
  other: { perSecond: 20, burst: 60 },
  health: { perSecond: 100, burst: 200 },
} as const;
export type RateClass = keyof typeof rateClasses;
/** A site (an IPv6 /48) has so many times what a client has, since it may have 65,536 networks of clients. */
export const siteFactor = 16;
