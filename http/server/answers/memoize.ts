/** Longer texts are computed each time: a client could make them as long as a request may be. */
export const memoizedCharactersMax = 1_024;

/**
 * A function of a text that clients send, computed once for each of the few texts that most of them send. When there are more
 * than `max`, all are forgotten, so nobody can fill the memory with them.
 */
export function memoize<Value>(compute: (text: string) => Value, max: number): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    if (text.length > memoizedCharactersMax) return compute(text);
    const existing = known.get(text);
    if (existing !== undefined) return existing;
    const value = compute(text);
    if (known.size >= max) known.clear();
    known.set(text, value);
    return value;
  };
}
