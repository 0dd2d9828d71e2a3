/** JSON in which a bigint is `{ "$bigint": "…" }`, since JSON has no such type. */
export function stringify(value: unknown): string {
  return JSON.stringify(tagBigints(value));
}

export type Json = string | number | bigint | boolean | null | Json[] | { [member: string]: Json };

/** @throws SyntaxError if the text is not JSON. */
export function parse(text: string): unknown {
  const parsed: Json = JSON.parse(text);
  return reviveBigints(parsed);
}

/** A value with each bigint as `{ "$bigint": "…" }`. */
export function tagBigints(value: unknown): unknown {
  if (typeof value === 'bigint') return { $bigint: value.toString() };
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(tagBigints);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, tagBigints(member)]));
}

/** Works in place, since a reviver function of `JSON.parse` takes twice as long. */
export function reviveBigints(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      if (typeof item === 'object' && item !== null) value[index] = reviveBigints(item);
    return value;
  }
  const { $bigint } = value;
  if (typeof $bigint === 'string') return BigInt($bigint);
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (typeof member === 'object' && member !== null) value[key] = reviveBigints(member);
  }
  return value;
}
