/** Formats the routes' decimal strings exactly, without floating-point numbers. */

/** Inserts a comma after every three digits before the point: `1234567.8901` is `1,234,567.8901`. */
function groupDigits(digits: string): string {
  return digits.replace(/(?<!\..*)\B(?=(\d{3})+(?:\.|$))/g, ',');
}

/** Formats an integer of the routes: a decimal string or a safe integer. */
export function formatInteger(value: string | number): string {
  return groupDigits(String(value));
}

/** Formats a value of an axis. Large values have few digits, for which a phone has room. */
export function formatScale(value: number): string {
  if (value < 100_000) return formatInteger(value);
  const notation = value < 1e15 ? 'compact' : 'scientific';
  return value.toLocaleString('en', { notation, maximumSignificantDigits: 3 });
}

/** Formats a number of things: `1 block`, `1,234 blocks`. */
export function count(number: string, noun: string, nouns = `${noun}s`): string {
  return `${formatInteger(number)} ${number === '1' ? noun : nouns}`;
}

/**
 * Writes an integer as a number with `decimals` digits in its fraction, without trailing zeros.
 *
 * @param value unsigned, in the smallest unit: `1500000000000000000` with 18 decimals is `1.5`.
 */
export function formatUnits(value: string | bigint, decimals: number): string {
  const digits = value.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** The same with its digits in groups, for people. */
export function formatExact(value: string | bigint, decimals: number): string {
  return groupDigits(formatUnits(value, decimals));
}

/** The same with at most `shown` digits in the fraction. It truncates and never rounds up: the shown value has been reached. */
export function formatShort(value: string | bigint, decimals: number, shown: number): string {
  const [integer = '', fraction = ''] = formatExact(value, decimals).split('.');
  const kept = fraction.slice(0, shown).replace(/0+$/, '');
  if (kept !== '') return `${integer}.${kept}`;
  const isBelowShown = integer === '0' && fraction !== '';
  return isBelowShown && shown > 0 ? `< 0.${'1'.padStart(shown, '0')}` : integer;
}

/** Formats basis points as a percentage with at most two digits in the fraction. */
export function formatPercent(basisPoints: number): string {
  return `${formatExact(String(basisPoints), 2)}\u00a0%`;
}

/** Rounds a measured value to exactly `shown` digits in the fraction, so the unit stays in place while the value changes. */
export function formatFixed(value: bigint, decimals: number, shown: number): string {
  const step = 10n ** BigInt(decimals - shown);
  const rounded = (value + step / 2n) / step;
  const [integer = '', fraction = ''] = formatExact(rounded, shown).split('.');
  return shown === 0 ? integer : `${integer}.${fraction.padEnd(shown, '0')}`;
}

/** Shortens a hash to `0x1234…abcd`; the element's title has all of it. */
export function shortenHash(hash: string): string {
  return hash.length <= 14 ? hash : `${hash.slice(0, 8)}…${hash.slice(-4)}`;
}
