import { formatUnits } from '../../client/decimals.ts';

/** Decimal strings of the routes as text, exact: nothing goes through a floating-point number. */

/** With a comma after every three digits: `1234567` is `1,234,567`. */
function groupDigits(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, ',');
}

/** An integer of the routes, which is a decimal string or a safe integer. */
export function formatInteger(value: string | number): string {
  return groupDigits(String(value));
}

/**
 * An integer in units that have `decimals` digits more: all digits, without zeros at the end.
 *
 * @param value unsigned, in the smallest unit: `1500000000000000000` with 18 decimals is `1.5`.
 */
export function formatExact(value: string | bigint, decimals: number): string {
  const [integer = '', fraction] = formatUnits(BigInt(value), decimals).split('.');
  return fraction === undefined ? groupDigits(integer) : `${groupDigits(integer)}.${fraction}`;
}

/** The same with at most `shown` digits of the fraction. The others are cut off, never rounded: what is shown has been reached. */
export function formatShort(value: string | bigint, decimals: number, shown: number): string {
  const [integer = '', fraction = ''] = formatExact(value, decimals).split('.');
  const kept = fraction.slice(0, shown).replace(/0+$/, '');
  if (kept !== '') return `${integer}.${kept}`;
  const isBelowShown = integer === '0' && fraction !== '';
  return isBelowShown && shown > 0 ? `< 0.${'1'.padStart(shown, '0')}` : integer;
}

/** Basis points as percent with two digits at most. */
export function formatPercent(basisPoints: number): string {
  return `${formatExact(String(basisPoints), 2)} %`;
}

/** With exactly `shown` digits of the fraction, so that a value that changes does not move its unit. */
export function formatFixed(value: bigint, decimals: number, shown: number): string {
  const [integer = '', fraction = ''] = formatExact(value, decimals).split('.');
  return `${integer}.${fraction.slice(0, shown).padEnd(shown, '0')}`;
}

/** `0x1234…abcd`; the whole of it stands in the title of the element. */
export function shortenHash(hash: string): string {
  return hash.length <= 14 ? hash : `${hash.slice(0, 8)}…${hash.slice(-4)}`;
}

/** A value on an axis: a round number, which a chart has chosen. */
export function formatTick(value: number): string {
  const [integer = '', fraction] = String(value).split('.');
  return fraction === undefined ? groupDigits(integer) : `${groupDigits(integer)}.${fraction}`;
}

/** For heights of bars alone, where a pixel is all that can be lost. */
export function toDrawn(value: string | number): number {
  return Number(value);
}
