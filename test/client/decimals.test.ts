import fc from 'fast-check';
import { formatUnits as formatWithViem } from 'viem';
import { expect, it } from 'vitest';
import { formatUnits } from '../../http/client/index.ts';
import { runs } from '../support/propertyRuns.ts';

it('an amount of either sign is written as another implementation writes it', () => {
  const amounts = fc.oneof(fc.bigInt(), fc.bigInt({ min: -1_000n, max: 1_000n }));
  fc.assert(
    fc.property(amounts, fc.nat(40), (amount, decimals) => {
      expect(formatUnits(amount, decimals)).toBe(formatWithViem(amount, decimals));
    }),
    {
      numRuns: runs(500),
      examples: [
        [-5n, 2],
        [-5n, 0],
        [-500n, 2],
        [0n, 2],
      ],
    },
  );
});
