/** Escapes of a JSON text: a pair of surrogates, half of one, or any other. */
const escapes = /\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(\\u[dD][89a-fA-F]..)|\\./g;

/**
 * The first escape in a JSON text that is half of a surrogate pair, such as `\ud83d` without `\ude00` behind it; null without any. Half a
 * pair is not a character, and can be written in no other way. Strict parsers refuse every text with one, although `JSON.parse` does not.
 */
export function findHalfSurrogate(json: string): string | null {
  if (!mayHaveSurrogates(json)) return null;
  for (const [, half] of json.matchAll(escapes)) if (half !== undefined) return half;
  return null;
}

/** The JSON text with U+FFFD for each half of a surrogate pair, as bytes that are not UTF-8 become U+FFFD. */
export function replaceHalfSurrogates(json: string): string {
  if (!mayHaveSurrogates(json)) return json;
  return json.replaceAll(escapes, (whole, half?: string) => (half === undefined ? whole : '\\ufffd'));
}

/** Nearly all messages have none, and this takes a fraction of the time. */
function mayHaveSurrogates(json: string): boolean {
  return json.includes('\\ud') || json.includes('\\uD');
}
