import { createHash } from 'node:crypto';
import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib';
import type { ContentEncoding } from './contentEncoding.ts';

/** Bodies up to this size are sent as they are: compressing them saves no packet. */
export const compressedAboveBytes = 1024;
/** Near the best density at a few milliseconds for the largest bodies; it runs once per view, not once per request. */
const brotliQuality = 5;

/** The bytes of one response, serialized once and sent many times. */
export interface PreparedResponse {
  readonly body: Buffer;
  readonly contentType: string;
  readonly isCompressible: boolean;
  /** The body in an encoding; compressed at the first request that wants it, then cached. */
  encoded(encoding: ContentEncoding): Buffer;
  /** With its quotes; weak for a compressed body, since other bytes have the same tag (RFC 9110, 8.8.3). Null for none. */
  etag(encoding: ContentEncoding): string | null;
}

export function prepareResponse(json: unknown, tag: string | null): PreparedResponse {
  return prepareBytes(Buffer.from(JSON.stringify(json)), 'application/json', tag);
}

/** A document, tagged by its content. */
export function prepareDocument(body: Buffer, contentType: string): PreparedResponse {
  return prepareBytes(body, contentType, createHash('sha256').update(body).digest('base64url').slice(0, 22));
}

function prepareBytes(body: Buffer, contentType: string, tag: string | null): PreparedResponse {
  const strong = tag === null ? null : `"${tag}"`;
  const weak = tag === null ? null : `W/"${tag}"`;
  let gzip: Buffer | null = null;
  let brotli: Buffer | null = null;
  return {
    body,
    contentType,
    isCompressible: body.length > compressedAboveBytes,
    encoded: (encoding) => {
      if (encoding === 'gzip') {
        gzip ??= gzipSync(body);
        return gzip;
      }
      if (encoding === 'br') {
        brotli ??= brotliCompressSync(body, { params: { [zlib.BROTLI_PARAM_QUALITY]: brotliQuality } });
        return brotli;
      }
      return body;
    },
    etag: (encoding) => (encoding === 'identity' ? strong : weak),
  };
}
