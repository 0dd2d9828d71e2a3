import { randomBytes } from 'node:crypto';

export const requestIdHeader = 'X-Request-Id';

/** CONTRACT.md, Common headers. */
const wellFormed = /^[A-Za-z0-9._:-]{8,128}$/;

/** @returns a function that chooses a request's ID: the requested one if it is well-formed, else one that is unique across processes. */
export function createRequestIds(): (requested: string) => string {
  const prefix = randomBytes(6).toString('hex');
  const endings = Array.from({ length: 36 ** 2 }, (_, number) => formatCount(number, 2));
  /** Common part of the next IDs. */
  let beginning = '';
  let count = 0;
  return (requested) => {
    if (wellFormed.test(requested)) return requested;
    // Only uniqueness counts: any other way of counting would do.
    const ending = count % endings.length;
    if (ending === 0) beginning = `${prefix}-${formatCount(count / endings.length, 4)}`;
    count++;
    return beginning + endings[ending];
  };
}

const formatCount = (count: number, length: number) => count.toString(36).padStart(length, '0');
