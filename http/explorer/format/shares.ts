import { formatInteger, formatShort } from './numbers.ts';
import type { Quantity } from './quantities.ts';

const shareDecimals = 30;

/** A part of a whole in percent, rounded down; unknown if the whole is zero. */
export function describeShare(part: string, whole: string): Quantity {
  if (BigInt(whole) === 0n) return { value: null, unit: '%', exact: null };
  const percent = (BigInt(part) * 100n * 10n ** BigInt(shareDecimals)) / BigInt(whole);
  return {
    value: formatShort(percent, shareDecimals, 2),
    unit: '%',
    exact: `${formatInteger(part)} of ${formatInteger(whole)}`,
  };
}

/** The share that a weight has in an amount, rounded down; null if there is no weight. */
export function projectShare(amount: string, weight: string, totalWeight: string): string | null {
  return BigInt(totalWeight) === 0n ? null : String((BigInt(amount) * BigInt(weight)) / BigInt(totalWeight));
}
