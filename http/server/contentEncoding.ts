import Negotiator from 'negotiator';
import { memoize } from './memoize.ts';

export type ContentEncoding = 'br' | 'gzip' | 'identity';

/** Different values of Accept-Encoding that are memoize; browsers and clients send a handful. */
const rememberedMax = 256;

/** Chooses the encoding of an answer from Accept-Encoding; Brotli is preferred where weights are equal. */
export function createEncodingChoice(): (acceptEncoding: string) => ContentEncoding {
  const chosen = memoize(negotiateEncoding, rememberedMax);
  return (acceptEncoding) => (acceptEncoding === '' ? 'identity' : chosen(acceptEncoding));
}

function negotiateEncoding(acceptEncoding: string): ContentEncoding {
  const negotiator = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } });
  // The published types are of a version that had no second parameter yet.
  const encodings = negotiator.encodings as (
    available: string[],
    options: { preferred: string[] },
  ) => string[];
  const [preferred] = encodings.call(negotiator, ['br', 'gzip', 'identity'], { preferred: ['br', 'gzip'] });
  // A client that refuses even `identity` gets it all the same: better than no answer (RFC 9110, 12.5.3).
  return (preferred as ContentEncoding | undefined) ?? 'identity';
}
