/**
 * A function of a text that clients send, asked once for each of the texts that most of them send. When there are many, all are
 * forgotten: nobody can fill the memory with them.
 */
export function memoize<Value>(make: (text: string) => Value, max: number): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    const held = known.get(text);
    if (held !== undefined) return held;
    const value = make(text);
    if (known.size >= max) known.clear();
    known.set(text, value);
    return value;
  };
}
