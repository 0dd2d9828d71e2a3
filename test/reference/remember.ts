/** Number of values kept per object. */
const namesMax = 20_000;

/** Computes a value once per object and name. The object must not change afterwards. */
export function rememberFor<Key extends object, Value extends object>(
  compute: (key: Key, name: string) => Value,
): (key: Key, name?: string) => Value {
  const known = new WeakMap<Key, Map<string, Value>>();
  return (key, name = '') => {
    const named = known.get(key) ?? new Map<string, Value>();
    known.set(key, named);
    const value = named.get(name) ?? compute(key, name);
    if (named.size >= namesMax) named.clear();
    named.set(name, value);
    return value;
  };
}
