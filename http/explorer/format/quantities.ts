import { count, formatExact, formatFixed, formatInteger, formatShort } from './numbers.ts';

/** A measured, counted or paid figure. Its value is null if unknown. */
export interface Quantity {
  readonly value: string | null;
  readonly unit: string;
  /** All digits, in the unit of the route; null if unknown. */
  readonly exact: string | null;
}

const unknown: Quantity = { value: null, unit: '', exact: null };

/** Millimetres as kilometres with two digits, or metres below one kilometre. */
export function describeDistance(millimetres: string | number | null): Quantity {
  if (millimetres === null) return unknown;
  const exact = `${formatInteger(millimetres)} mm`;
  const value = BigInt(millimetres);
  // From here on, metres would be rounded up to a kilometre.
  return value < 999_500n
    ? { value: formatFixed(value, 3, 0), unit: 'm', exact }
    : { value: formatFixed(value, 6, 2), unit: 'km', exact };
}

/** Millimetres per second as kilometres per hour with one digit: 1 mm/s is 0.0036 km/h. */
export function describeSpeed(millimetresPerSecond: string | number | null): Quantity {
  if (millimetresPerSecond === null) return unknown;
  const value = formatFixed(BigInt(millimetresPerSecond) * 36n, 4, 1);
  return { value, unit: 'km/h', exact: `${formatInteger(millimetresPerSecond)} mm/s` };
}

/** Thousandths of revolutions per minute with one digit. */
export function describeRpm(rpmMilli: string | number | null): Quantity {
  if (rpmMilli === null) return unknown;
  const exact = `${formatInteger(rpmMilli)} thousandths of a turn per minute`;
  return { value: formatFixed(BigInt(rpmMilli), 3, 1), unit: 'rpm', exact };
}

export function describeWork(units: string | null): Quantity {
  if (units === null) return { ...unknown, unit: 'units' };
  return { value: formatInteger(units), unit: 'units', exact: `${formatInteger(units)} work units` };
}

/** A number of things, whose exact form has their unit as well. */
export function describeCount(number: string | null, noun: string): Quantity {
  if (number === null) return unknown;
  const exact = count(number, noun);
  return { value: formatInteger(number), unit: exact.replace(/^\S+ /, ''), exact };
}

/** An amount in base units as tokens, with at most `shown` digits of the fraction. */
export function describeAmount(
  baseUnits: string | null | undefined,
  asset: { readonly symbol: string; readonly decimals: number } | null,
  shown: number,
): Quantity {
  if (baseUnits === null || baseUnits === undefined || asset === null)
    return { ...unknown, unit: asset?.symbol ?? '' };
  const { symbol, decimals } = asset;
  const exact = `${formatExact(baseUnits, decimals)} ${symbol}`;
  return { value: formatShort(baseUnits, decimals, shown), unit: symbol, exact };
}

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
