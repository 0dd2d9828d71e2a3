/**
 * A function of immutable objects, computed once for each of them: an object that is the same (`===`) has the same value.
 * Values live as long as their objects do.
 */
export function memoizeByIdentity<Key extends object, Value>(
  compute: (key: Key) => Value,
): (key: Key) => Value {
  const known = new WeakMap<Key, { readonly value: Value }>();
  return (key) => {
    const existing = known.get(key);
    if (existing !== undefined) return existing.value;
    const value = compute(key);
    known.set(key, { value });
    return value;
  };
}
