/**
 * A value that cannot be missing.
 *
 * @param what it is, as the error names it.
 * @throws Error when it is missing nevertheless.
 */
export function requireValue<Value>(value: Value | null | undefined, what: string): Value {
  if (value === null || value === undefined) throw new Error(`${what} is missing`);
  return value;
}
