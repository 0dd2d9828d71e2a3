/**
 * Memoizes a function of immutable objects: it is computed once per object (`===`). A value lives as long as its object.
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
