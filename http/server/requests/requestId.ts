import { randomBytes } from 'node:crypto';
import { isIdCharacter } from '../../routes/isIdCharacter.ts';

/** Name of the header that has the ID of a request, in both directions. */
export const requestIdHeader = 'X-Request-Id';

const lengthMin = 8;
const lengthMax = 128;

/** Gives each request its ID: the caller's own where it is well-formed, else one that is unique across processes. */
export function createRequestIds(): (requested: string) => string {
  const prefix = randomBytes(6).toString('hex');
  const endings = Array.from({ length: 36 ** 2 }, (_, number) => formatCount(number, 2));
  /** What the next IDs have in common. */
  let beginning = '';
  let count = 0;
  return (requested) => {
    if (requested !== '' && isWellFormed(requested)) return requested;
    const ending = count % endings.length;
    if (ending === 0) beginning = `${prefix}-${formatCount(count / endings.length, 4)}`;
    count++;
    return beginning + endings[ending];
  };
}

const formatCount = (count: number, length: number) => count.toString(36).padStart(length, '0');

/** 8-128 characters of letters, digits, . _ : - (CONTRACT.md, Common headers). */
function isWellFormed(id: string): boolean {
  if (id.length < lengthMin || id.length > lengthMax) return false;
  for (let index = 0; index < id.length; index++) if (!isIdCharacter(id.charCodeAt(index))) return false;
  return true;
}
