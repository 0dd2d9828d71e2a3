import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib';
import type { ContentEncoding } from './contentEncoding.ts';

/** Bodies up to this size are sent as they are: compressing them saves no packet. */
export const compressedAboveBytes = 1024;
/** Near the best density at a few milliseconds for the largest bodies; it runs once per view, not once per request. */
const brotliQuality = 5;

/** The bytes of one response, serialized once and sent many times. */
export interface PreparedResponse {
  readonly body: Buffer;
  /** With its quotes. */
  readonly etag: string | null;
  readonly isCompressible: boolean;
  /** The body in an encoding; compressed at the first request that wants it, then cached. */
  encoded(encoding: ContentEncoding): Buffer;
}

export function prepareResponse(json: unknown, tag: string | null): PreparedResponse {
  const body = Buffer.from(JSON.stringify(json));
  let gzip: Buffer | null = null;
  let brotli: Buffer | null = null;
  return {
    body,
    etag: tag === null ? null : `"${tag}"`,
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
  };
}
