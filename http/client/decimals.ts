/** Places of the decimals in a body: `1` is a decimal, and a list describes each of its items. */
export type Decimals = 1 | readonly [Decimals] | { readonly [member: string]: Decimals };

/** Replaces the decimal strings of a body by bigints, in place. */
export function parseDecimals(value: unknown, decimals: Decimals | undefined): unknown {
  if (decimals === undefined || value === null) return value;
  if (decimals === 1) return typeof value === 'string' ? BigInt(value) : value;
  if (Array.isArray(value)) {
    const [ofItem] = decimals as readonly [Decimals];
    for (const [index, item] of value.entries()) value[index] = parseDecimals(item, ofItem);
    return value;
  }
  if (typeof value !== 'object') return value;
  const members = value as Record<string, unknown>;
  for (const [name, ofMember] of Object.entries(decimals))
    if (name in members) members[name] = parseDecimals(members[name], ofMember as Decimals);
  return value;
}

/**
 * Writes an amount of base units as an exact decimal number without trailing zeros: 1500000000000000000n with 18 decimals is `1.5`.
 *
 * @param decimals decimals of the token, such as `asset.decimals`.
 */
export function formatUnits(baseUnits: bigint, decimals: number): string {
  const [sign, magnitude] = baseUnits < 0n ? ['-', -baseUnits] : ['', baseUnits];
  const digits = magnitude.toString().padStart(decimals + 1, '0');
  const whole = `${sign}${digits.slice(0, digits.length - decimals)}`;
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
