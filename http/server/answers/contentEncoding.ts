import Negotiator from 'negotiator';
import { memoize } from './memoize.ts';

const offered = ['br', 'gzip', 'identity'] as const;
export type ContentEncoding = (typeof offered)[number];

/** Values of Accept-Encoding whose choice is cached; browsers and clients send a handful. */
const cachedMax = 256;

/** Longer headers are ignored. Browsers send about twenty characters; a list of 120 KB takes 18 ms to negotiate. */
export const encodingCharactersMax = 1_024;

/** Chooses the encoding of a response from Accept-Encoding; Brotli wins between equal weights. */
export function createEncodingChoice(): (acceptEncoding: string) => ContentEncoding {
  const negotiate = memoize(negotiateEncoding, cachedMax);
  return (acceptEncoding) =>
    acceptEncoding === '' || acceptEncoding.length > encodingCharactersMax
      ? 'identity'
      : negotiate(acceptEncoding);
}

function negotiateEncoding(acceptEncoding: string): ContentEncoding {
  const negotiator = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } });
  // The published types lack the second parameter.
  const encodings = negotiator.encodings as (
    available: string[],
    options: { preferred: string[] },
  ) => string[];
  const [preferred] = encodings.call(negotiator, [...offered], { preferred: ['br', 'gzip'] });
  // A client that refuses even `identity` still gets it, as RFC 9110, 12.5.3 allows.
  return offered.find((one) => one === preferred) ?? 'identity';
}
