/** Values of longer texts are computed each time, since a client can send texts as long as a request may be. */
export const memoizedCharactersMax = 1_024;

/**
 * Caches the values of a function by the text that clients send; most of them send the same few texts. Once there are more
 * than `max`, all are forgotten, so clients cannot fill the memory.
 */
export function memoize<Text extends string, Value>(
  compute: (text: Text) => Value,
  max: number,
): (text: Text) => Value {
  const known = new Map<Text, Value>();
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
