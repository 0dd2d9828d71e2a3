/** Where the decimals of a body are: `1` is one, a list has them in each item. */
export type Decimals = 1 | readonly [Decimals] | { readonly [member: string]: Decimals };

/** Decimal strings become bigints, in place, where a body has them. */
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
 * An amount in base units as a decimal number, exact, without zeros at its end: 1500000000000000000n with 18 decimals is `1.5`.
 *
 * @param decimals of the token, such as `asset.decimals`.
 */
export function formatUnits(baseUnits: bigint, decimals: number): string {
  const digits = baseUnits.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
