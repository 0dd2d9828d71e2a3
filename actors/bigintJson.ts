/** JSON has no bigint; one travels as an object of this one member. */
interface EncodedBigint {
  readonly $bigint: string;
}

export function stringify(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? ({ $bigint: member.toString() } satisfies EncodedBigint) : member,
  );
}

/** @throws SyntaxError when the text is not JSON. */
export function parse(text: string): unknown {
  return JSON.parse(text, (_key, member: unknown) =>
    typeof member === 'object' && member !== null && '$bigint' in member
      ? BigInt((member as EncodedBigint).$bigint)
      : member,
  );
}
