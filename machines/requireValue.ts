/**
 * Returns a value that the caller knows to exist.
 *
 * @param what names the value in the error.
 * @throws Error if the value is missing.
 */
export function requireValue<Value>(value: Value | null | undefined, what: string): Value {
  if (value === null || value === undefined) throw new Error(`${what} is missing`);
  return value;
}
