import type { z } from 'zod';

const version = 1;

/** Encodes fields as one text that a client sends back unchanged. */
export function encodeFields(fields: readonly unknown[]): string {
  return Buffer.from(JSON.stringify([version, ...fields])).toString('base64url');
}

/** Decodes the fields; null unless {@link encodeFields} made the text from fields that fit the schema. */
export function decodeFields<Schema extends z.ZodTuple>(
  text: string,
  schema: Schema,
): z.infer<Schema> | null {
  let decoded: unknown;
  try {
    decoded = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
  if (!Array.isArray(decoded) || decoded[0] !== version) return null;
  const { data } = schema.safeParse(decoded.slice(1));
  return data !== undefined && encodeFields(decoded.slice(1)) === text ? data : null;
}
