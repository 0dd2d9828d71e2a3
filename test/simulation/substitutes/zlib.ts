import { Transform } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';

export { brotliCompressSync, constants, gunzipSync, gzipSync } from 'node:zlib';

/** Compresses in this thread. Node.js compresses in another one, and finishes at a time that no seed decides. */
export function createGzip(options: { readonly level?: number } = {}): Transform {
  return transformWhole((bytes) => gzipSync(bytes, options));
}

export function createGunzip(): Transform {
  return transformWhole((bytes) => gunzipSync(bytes));
}

/** Converts everything at the end. */
function transformWhole(convert: (bytes: Buffer) => Buffer): Transform {
  const pieces: Buffer[] = [];
  return new Transform({
    transform(piece: Buffer | string, _, done) {
      pieces.push(Buffer.from(piece as Buffer));
      done();
    },
    flush(done) {
      try {
        done(null, convert(Buffer.concat(pieces)));
      } catch (error) {
        done(error as Error);
      }
    },
  });
}
