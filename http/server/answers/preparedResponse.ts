import { createHash } from 'node:crypto';
import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib';
import Negotiator from 'negotiator';
import { once } from '../../../actors/caching/once.ts';
import { type Header, type LeadingHeaders, prepareLeading } from '../engine/headerBlock.ts';
import { requestIdHeader } from '../requests/requestHeaders.ts';
import { memoize } from './memoize.ts';

export const jsonType = 'application/json';

/** Bodies up to this size are not compressed, since that saves no packet. */
export const compressedAboveBytes = 1024;
/**
 * Compression of a response that many requests share: nearly as dense as the best, within a few milliseconds for the largest bodies. Bodies that are
 * made for one request are compressed in a quarter of the time, and are up to a tenth larger.
 */
const shared = { brotliQuality: 5, gzipLevel: 6 };
const single = { brotliQuality: 1, gzipLevel: 1 };

/**
 * Marks a response without `Cache-Control` as out of date from the beginning. Caches may keep a response that says nothing for as long as they like,
 * two minutes in Varnish (RFC 9111, 4.2.2). It is a valid date, since some caches ignore any other text.
 */
const expired: Header = ['Expires', 'Sat, 01 Jan 2000 00:00:00 GMT'];

export interface PreparedResponse {
  readonly isCompressible: boolean;
  encoded(encoding: ContentEncoding): EncodedResponse;
}

export interface EncodedResponse {
  readonly status: string;
  readonly isCompressible: boolean;
  /** The tag with its quotes, or null. A compressed body has a weak tag, since its bytes differ from the plain ones (RFC 9110, 8.8.3), and so has a document that also says when it was made. */
  readonly etag: string | null;
  /** The bytes, compressed at the first request for this encoding and then cached. */
  body(): Buffer;
  /** Headers with a body; the request's ID follows. */
  readonly headers: LeadingHeaders;
  /** Headers of a 304; the request's ID follows. */
  readonly notModified: LeadingHeaders;
}

export interface ResponseHeaders {
  readonly contentType: string;
  /** The tag without quotes. */
  readonly tag?: string | null;
  /** Null for a route whose contract has no cache policy. */
  readonly cacheControl: string | null;
  /** Headers that only this route or document has. */
  readonly own?: readonly Header[];
  /** Whether the response is made for one request, and probably not sent again. */
  readonly isSingle?: boolean;
  /** 200 OK unless given. Other responses have no tag: a 304 would say that the page exists. */
  readonly status?: string;
}

export function prepareResponse(
  json: unknown,
  headers: Omit<ResponseHeaders, 'contentType'>,
): PreparedResponse {
  return prepareBytes(Buffer.from(JSON.stringify(json)), { ...headers, contentType: jsonType });
}

interface DocumentHeaders extends Omit<ResponseHeaders, 'tag'> {
  /** The text that its tag stands for, if that is not all of it: documents with the same have the same tag. */
  readonly shown?: string;
}

export function prepareDocument(body: Buffer, { shown, ...headers }: DocumentHeaders): PreparedResponse {
  const tag = createHash('sha256')
    .update(shown ?? body)
    .digest('base64url')
    .slice(0, 22);
  return prepareBytes(body, {
    ...headers,
    tag: headers.status === undefined ? tag : null,
    isTagWeak: shown !== undefined,
  });
}

function prepareBytes(
  plain: Buffer,
  {
    contentType,
    tag = null,
    cacheControl,
    own = [],
    isSingle = false,
    isTagWeak = false,
    status = '200 OK',
  }: ResponseHeaders & { readonly isTagWeak?: boolean },
): PreparedResponse {
  const isCompressible = plain.length > compressedAboveBytes;
  const weak = tag === null ? null : `W/"${tag}"`;
  const plainTag = tag === null || isTagWeak ? weak : `"${tag}"`;

  function encode(encoding: ContentEncoding): EncodedResponse {
    const etag = encoding === 'identity' ? plainTag : weak;
    const common: Header[] = [['X-Content-Type-Options', 'nosniff']];
    if (etag !== null) common.push(['ETag', etag]);
    common.push(cacheControl === null ? expired : ['Cache-Control', cacheControl]);
    common.push(...own);
    const content: Header[] = [['Content-Type', contentType]];
    if (encoding !== 'identity') content.push(['Content-Encoding', encoding]);
    return {
      status,
      isCompressible,
      etag,
      body: once(() => compress(plain, encoding, isSingle ? single : shared)),
      headers: prepareLeading([...common, ...content], requestIdHeader),
      notModified: prepareLeading(common, requestIdHeader),
    };
  }

  const byEncoding = { identity: encode('identity'), gzip: encode('gzip'), br: encode('br') };
  return { isCompressible, encoded: (encoding) => byEncoding[encoding] };
}

function compress(
  plain: Buffer,
  encoding: ContentEncoding,
  { brotliQuality, gzipLevel }: typeof shared,
): Buffer {
  if (encoding === 'gzip') return gzipSync(plain, { level: gzipLevel });
  if (encoding === 'br')
    return brotliCompressSync(plain, { params: { [zlib.BROTLI_PARAM_QUALITY]: brotliQuality } });
  return plain;
}

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
