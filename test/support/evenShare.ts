import fc from 'fast-check';

/** Shares from `min` to `max`, each as likely as another. `fc.double` draws exponents alike, so nearly all of its values are close to 0 or to a border. */
export function evenShare(min = 0, max = 1): fc.Arbitrary<number> {
  return fc
    .integer({ min: Math.round(min * 1_000), max: Math.round(max * 1_000) })
    .map((mille) => mille / 1_000);
}
