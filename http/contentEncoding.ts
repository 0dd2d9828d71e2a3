import Negotiator from 'negotiator';

export type ContentEncoding = 'br' | 'gzip' | 'identity';

/** Different values of Accept-Encoding that are remembered; browsers and clients send a handful. */
const rememberedMax = 256;

/** Chooses the encoding of an answer from Accept-Encoding; Brotli is preferred where weights are equal. */
export function createEncodingChoice(): (acceptEncoding: string) => ContentEncoding {
  const remembered = new Map<string, ContentEncoding>();
  return (acceptEncoding) => {
    if (acceptEncoding === '') return 'identity';
    const known = remembered.get(acceptEncoding);
    if (known !== undefined) return known;
    const chosen = chosenEncoding(acceptEncoding);
    if (remembered.size >= rememberedMax) remembered.clear();
    remembered.set(acceptEncoding, chosen);
    return chosen;
  };
}

function chosenEncoding(acceptEncoding: string): ContentEncoding {
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
