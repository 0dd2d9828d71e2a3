/** A bigint in JSON, which has no such type. */
interface EncodedBigint {
  readonly $bigint: string;
}

export function stringify(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? ({ $bigint: member.toString() } satisfies EncodedBigint) : member,
  );
}

type Json = string | number | bigint | boolean | null | Json[] | { [member: string]: Json };

/** @throws SyntaxError if the text is not JSON. */
export function parse(text: string): unknown {
  const parsed: Json = JSON.parse(text);
  return reviveBigints(parsed);
}

/** Works in place, since a reviver function of `JSON.parse` takes twice as long. */
function reviveBigints(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) value[index] = reviveBigints(item);
    return value;
  }
  const { $bigint } = value;
  if (typeof $bigint === 'string') return BigInt($bigint);
  for (const [key, member] of Object.entries(value)) value[key] = reviveBigints(member);
  return value;
}
