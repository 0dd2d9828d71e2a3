/** Computes a value at the first call, and returns the same value from then on. */
export function once<Value extends object>(build: () => Value): () => Value {
  let built: Value | null = null;
  return () => {
    built ??= build();
    return built;
  };
}
