/** A-Z a-z 0-9 . _ : - by character code: this runs once per request. */
export function isIdCharacter(code: number): boolean {
  if (code >= 97 && code <= 122) return true; // a-z
  if (code >= 48 && code <= 58) return true; // 0-9 and :
  if (code >= 65 && code <= 90) return true; // A-Z
  return code === 45 || code === 46 || code === 95; // - . _
}
