import { isIdCharacter } from './isIdCharacter.ts';

const lengthMax = 128;

/** The installation ID of a decoded path segment; null when it is malformed (CONTRACT.md, Measurement). */
export function parseInstallationId(segment: string): string | null {
  if (segment.length === 0 || segment.length > lengthMax) return null;
  for (let index = 0; index < segment.length; index++) {
    if (!isIdCharacter(segment.charCodeAt(index))) return null;
  }
  return segment;
}
