import { isIdCharacter } from '../server/requestId.ts';

const lengthMax = 128;

/** The installation ID of a path segment, percent-decoded; null when it is malformed (CONTRACT.md, Measurement). */
export function parseInstallationId(segment: string): string | null {
  const decoded = segment.includes('%') ? decodePercent(segment) : segment;
  if (decoded === null || decoded.length === 0 || decoded.length > lengthMax) return null;
  for (let index = 0; index < decoded.length; index++) {
    if (!isIdCharacter(decoded.charCodeAt(index))) return null;
  }
  return decoded;
}

function decodePercent(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
