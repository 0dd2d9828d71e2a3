/** Nanoseconds since the epoch of an RFC 3339 UTC time with up to nine fractional digits. */
export function parseNanos(timestamp: string): bigint {
  const [whole = '', fraction = ''] = timestamp.replace(/Z$/, '').split('.');
  return BigInt(Date.parse(`${whole}Z`)) * 1_000_000n + BigInt(fraction.padEnd(9, '0').slice(0, 9));
}

/** The RFC 3339 UTC time, with nine fractional digits, of nanoseconds since the epoch. */
export function formatNanos(nanos: bigint): string {
  const second = new Date(Number(nanos / 1_000_000n)).toISOString().slice(0, 19);
  return `${second}.${String(nanos % 1_000_000_000n).padStart(9, '0')}Z`;
}
