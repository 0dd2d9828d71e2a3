const version = 1;

/** Strings and numbers as one text that a client sends back unchanged. */
export function encodeFields(fields: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify([version, ...fields])).toString('base64url');
}

/** The fields again; null for anything that {@link encodeFields} has not made of so many. */
export function decodeFields(text: string, count: number): readonly unknown[] | null {
  let decoded: unknown;
  try {
    decoded = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
  if (!Array.isArray(decoded) || decoded.length !== count + 1 || decoded[0] !== version) return null;
  const fields = decoded.slice(1);
  return encodeFields(fields) === text ? fields : null;
}
